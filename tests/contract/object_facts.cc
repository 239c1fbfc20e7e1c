// Facts about dead handles, memory of other processes, and captures.
#include "tests/contract/fact_answers.h"

namespace cuheap::contract {
namespace {

// Memory of cuMemCreate, mapped; without access unless `allowed`.
CUdeviceptr Mapping(bool allowed) {
  CUmemAllocationProp properties{};
  properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
  constexpr std::size_t kBytes = 2U << 20;
  CUmemGenericAllocationHandle handle = 0;
  CUdeviceptr base = 0;
  D().cuMemCreate(&handle, kBytes, &properties, 0);
  D().cuMemAddressReserve(&base, kBytes, 0, 0, 0);
  D().cuMemMap(base, kBytes, 0, handle, 0);
  const CUmemAccessDesc access{properties.location, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
  if (allowed) D().cuMemSetAccess(base, kBytes, &access, 1);
  return base;
}

// A relaxed capture of `stream`, and an event recorded in it.
struct CaptureWithEvent {
  CaptureWithEvent() {
    UsePrimary();
    stream = NewStream();
    D().cuEventCreate(&event, CU_EVENT_DISABLE_TIMING);
    D().cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED);
    D().cuEventRecord(event, stream);
  }
  std::string End() const {
    CUgraph graph = nullptr;
    return Say(D().cuStreamEndCapture(stream, &graph));
  }

  CUstream stream = nullptr;
  CUevent event = nullptr;
};

template <class Call>
std::string InEachMode(Call call) {
  std::string answer;
  for (const CUstreamCaptureMode mode :
       {CU_STREAM_CAPTURE_MODE_GLOBAL, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL,
        CU_STREAM_CAPTURE_MODE_RELAXED}) {
    CUstream const stream = NewStream();
    D().cuStreamBeginCapture(stream, mode);
    answer += (answer.empty() ? "" : ", ") + Say(call());
    CUgraph graph = nullptr;
    D().cuStreamEndCapture(stream, &graph);
  }
  return answer;
}

}  // namespace

std::string Answer_destroyed_stream() {
  UsePrimary();
  CUstream const stream = NewStream();
  D().cuStreamDestroy(stream);
  return Say(D().cuStreamQuery(stream));
}

std::string Answer_destroyed_event() {
  UsePrimary();
  CUevent event = nullptr;
  D().cuEventCreate(&event, CU_EVENT_DISABLE_TIMING);
  D().cuEventDestroy(event);
  return Say(D().cuEventQuery(event));
}

std::string Answer_ipc_interior() {
  UsePrimary();
  CUipcMemHandle handle{};
  return Say(D().cuIpcGetMemHandle(&handle, Block(4U << 20) + 4096));
}

std::string Answer_ipc_of_mapping() {
  UsePrimary();
  CUipcMemHandle handle{};
  return Say(D().cuIpcGetMemHandle(&handle, Mapping(true)));
}

std::string Answer_ipc_of_pool() {
  UsePrimary();
  CUdeviceptr block = 0;
  D().cuMemAllocAsync(&block, 4U << 20, nullptr);
  D().cuCtxSynchronize();
  CUipcMemHandle handle{};
  return Say(D().cuIpcGetMemHandle(&handle, block));
}

std::string Answer_free_in_capture() {
  UsePrimary();
  return InEachMode([block = Block(4096)] { return D().cuMemFree(block); });
}

std::string Answer_query_in_capture() {
  UsePrimary();
  CUevent event = nullptr;
  D().cuEventCreate(&event, CU_EVENT_DISABLE_TIMING);
  D().cuEventRecord(event, nullptr);
  D().cuCtxSynchronize();
  return InEachMode([event] { return D().cuEventQuery(event); });
}

std::string Answer_empty_fork() {
  const CaptureWithEvent capture;
  D().cuStreamWaitEvent(NewStream(), capture.event, 0);
  return capture.End();
}

std::string Answer_captured_event_query() {
  const CaptureWithEvent capture;
  const std::string query = Say(D().cuEventQuery(capture.event));
  return query + ", then " + capture.End();
}

std::string Answer_unset_access() {
  UsePrimary();
  const CUresult queued = D().cuMemsetD8Async(Mapping(false), 0, 512, nullptr);
  return Say(queued) + ", then " + Say(D().cuCtxSynchronize());
}

}  // namespace cuheap::contract
