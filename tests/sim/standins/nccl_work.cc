#include "tests/sim/standins/nccl_work.h"

#include <memory>

#include "tests/sim/standins/driver.h"
#include "tests/sim/standins/enqueue.h"

namespace cuheap::sim_standin {
namespace {

using Event = void*;

// Functions of the driver by which streams are ordered.
struct Driver {
  int (*push)(void*) = DriverFunction<int(void*)>("cuCtxPushCurrent_v2");
  int (*pop)(void**) = DriverFunction<int(void**)>("cuCtxPopCurrent_v2");
  int (*create)(Event*, unsigned) = DriverFunction<int(Event*, unsigned)>("cuEventCreate");
  int (*record)(Event, Stream) = DriverFunction<int(Event, Stream)>("cuEventRecord");
  int (*wait)(Stream, Event,
              unsigned) = DriverFunction<int(Stream, Event, unsigned)>("cuStreamWaitEvent");
  int (*destroy)(Event) = DriverFunction<int(Event)>("cuEventDestroy_v2");
};

const Driver& TheDriver() {
  static const Driver driver;
  return driver;
}

// The context of a rank is current in its scope: a default stream is that of its device.
class InContext {
 public:
  explicit InContext(const NcclCall& call)
      : pushed_(TheDriver().push(call.communicator->context) == 0) {}
  ~InContext() {
    void* context = nullptr;
    if (pushed_) TheDriver().pop(&context);
  }
  InContext(const InContext&) = delete;
  InContext& operator=(const InContext&) = delete;

 private:
  const bool pushed_;
};

// What `later` queues from now on comes after what `earlier` has queued. A CUresult.
int Order(const NcclCall& earlier, const NcclCall& later) {
  constexpr unsigned kNoTiming = 2;
  const Driver& driver = TheDriver();
  Event event = nullptr;
  {
    const InContext scope(earlier);
    int result = driver.create(&event, kNoTiming);
    if (result != 0) return result;
    result = driver.record(event, earlier.stream);
    if (result != 0) {
      driver.destroy(event);
      return result;
    }
  }
  const InContext scope(later);
  const int result = driver.wait(later.stream, event, 0);
  driver.destroy(event);
  return result;
}

struct Sizes {
  std::size_t sent;
  std::size_t received;
};

// Elements that one rank has at either end.
Sizes SizesOf(const NcclCall& call) {
  const auto all = static_cast<std::size_t>(RanksOf(*call.communicator)) * call.count;
  const bool is_root = call.communicator->rank == call.peer;
  switch (call.kind) {
    case NcclKind::kAllReduce:
      return {call.count, call.count};
    case NcclKind::kReduce:
      return {call.count, is_root ? call.count : 0};
    case NcclKind::kBroadcast:
      return {is_root ? call.count : 0, call.count};
    case NcclKind::kAllGather:
      return {call.count, all};
    case NcclKind::kReduceScatter:
      return {all, call.count};
    case NcclKind::kAllToAll:
      return {all, all};
    case NcclKind::kGather:
      return {call.count, is_root ? all : 0};
    case NcclKind::kScatter:
      return {is_root ? all : 0, call.count};
    case NcclKind::kMessage:
      return {call.sends ? call.count : 0, call.sends ? 0 : call.count};
  }
  return {0, 0};
}

int Launch(const std::vector<NcclCall>& calls) {
  Touched touched;
  for (const NcclCall& call : calls) {
    const Sizes sizes = SizesOf(call);
    const std::size_t bytes = BytesOfNcclType(call.type);
    touched.Bytes(Access::kRead, call.send, sizes.sent * bytes);
    touched.Bytes(Access::kWrite, call.receive, sizes.received * bytes);
  }
  const std::vector<cuheap_sim_range> ranges = touched.Ranges();
  const InContext scope(calls[0]);
  const cuheap_sim_body body{
      [](void* data) { MoveData(*static_cast<std::vector<NcclCall>*>(data)); },
      [](void* data) { delete static_cast<std::vector<NcclCall>*>(data); },
      new std::vector<NcclCall>(calls), 1};
  return cuheap_sim_launch_body(calls[0].stream, "kernel of NCCL", ranges.data(), ranges.size(),
                                &body);
}

}  // namespace

int RunTogether(const std::vector<NcclCall>& calls) {
  for (const NcclCall& call : calls)
    if (BytesOfNcclType(call.type) == 0 || !IsNcclOperation(call.operation))
      return kNcclInvalidArgument;
  const NcclCall& first = calls[0];
  for (std::size_t i = 1; i < calls.size(); ++i)
    if (Order(calls[i], first) != 0) return kNcclUnhandledCudaError;
  if (Launch(calls) != 0) return kNcclUnhandledCudaError;
  for (std::size_t i = 1; i < calls.size(); ++i)
    if (Order(first, calls[i]) != 0) return kNcclUnhandledCudaError;
  return 0;
}

}  // namespace cuheap::sim_standin
