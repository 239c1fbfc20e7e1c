// Linear memory and events between processes.
#include "tests/sim/engine/ipc.h"

#include "tests/sim/driver/support.h"
#include "tests/sim/engine/allocation_table.h"
#include "tests/sim/engine/event.h"
#include "tests/sim/engine/work_queue.h"

namespace cuheap::sim {
namespace {

// An unmapping waits for the work of the memory's device and of the context that has it open.
void WaitForUsersOf(std::uintptr_t address, const Context* context) {
  int device = -1;
  {
    const EngineLock lock;
    if (const Allocation* block = FindAllocation(address)) device = block->device;
  }
  if (device >= 0) WaitForDevice(device);
  WaitForContext(context);
}

}  // namespace

CUresult face::IpcGetMemHandle(CUipcMemHandle* out, CUdeviceptr address) {
  CUHEAP_SIM_TRY(NeedPointers(out));
  CUHEAP_SIM_TRY(NeedContext());
  return MakeIpcHandle(address, out);
}

CUresult face::IpcOpenMemHandle(CUdeviceptr* out, CUipcMemHandle handle, unsigned flags) {
  return IpcOpenMemHandle_v2(out, handle, flags);
}

CUresult face::IpcOpenMemHandle_v2(CUdeviceptr* out, CUipcMemHandle handle, unsigned flags) {
  CUHEAP_SIM_TRY(NeedPointers(out));
  if (flags != CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS) return CUDA_ERROR_INVALID_VALUE;
  Context* context = nullptr;
  CUHEAP_SIM_TRY(CurrentContext(&context));
  CUHEAP_SIM_TRY(CheckUnsafeCall());
  std::uintptr_t address = 0;
  CUHEAP_SIM_TRY(OpenIpcHandle(handle, context, &address));
  *out = address;
  return CUDA_SUCCESS;
}

CUresult face::IpcCloseMemHandle(CUdeviceptr address) {
  Context* context = nullptr;
  CUHEAP_SIM_TRY(CurrentContext(&context));
  WaitForUsersOf(address, context);
  return CloseIpcHandle(address);
}

CUresult face::IpcGetEventHandle(CUipcEventHandle* out, CUevent handle) {
  CUHEAP_SIM_TRY(NeedPointers(out));
  const EngineLock lock;
  const Event* event = Events().Find(handle);
  if (event == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  if ((event->flags & CU_EVENT_INTERPROCESS) == 0) return CUDA_ERROR_INVALID_HANDLE;
  *out = event->shared->Handle();
  return CUDA_SUCCESS;
}

CUresult face::IpcOpenEventHandle(CUevent* out, CUipcEventHandle handle) {
  CUHEAP_SIM_TRY(NeedPointers(out));
  Context* context = nullptr;
  CUHEAP_SIM_TRY(CurrentContext(&context));
  SharedEventPtr shared;
  CUHEAP_SIM_TRY(OpenSharedEvent(handle, &shared));
  *out = Cast<CUevent>(NewSharedView(context, std::move(shared)));
  return CUDA_SUCCESS;
}

}  // namespace cuheap::sim
