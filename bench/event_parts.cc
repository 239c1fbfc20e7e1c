// The parts of one observed event, each called in a loop: nanoseconds a call. C functions for
// ctypes (event_parts.py). Threads: one. The Python walk sees the frames of the caller, as the
// observer does.
#include <chrono>
#include <cstdint>
#include <cstring>

#include "allocator/base/clock.h"
#include "allocator/capture/modules.h"
#include "allocator/capture/native_stack.h"
#include "allocator/capture/python_stack.h"
#include "allocator/capture/stack_memo.h"
#include "allocator/ledger/ledger.h"

namespace {

using cuheap::capture::PythonFrame;

template <typename Function>
double NanosecondsACall(int calls, Function function) {
  for (int i = 0; i < calls / 10; ++i) function();
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < calls; ++i) function();
  const std::chrono::duration<double, std::nano> spent = std::chrono::steady_clock::now() - start;
  return spent.count() / calls;
}

constinit cuheap::capture::PythonStack python;
constinit cuheap::capture::StackMemo memo;
constinit cuheap::Ledger ledger;
volatile int sink;

// What `function` says below at least `depth` native frames.
template <typename Function>
[[gnu::noinline]] double Below(int depth, Function function) {
  const double result = depth > 0 ? Below(depth - 1, function) : function();
  sink = depth;  // keeps this frame: no tail call
  return result;
}

double Walk(int calls) {
  std::uint64_t pcs[cuheap::capture::kMaxNativeFrames];
  return NanosecondsACall(calls, [&] { sink = cuheap::capture::WalkNative(pcs, 0); });
}

// A look that finds nothing would be no measure of finding: -1 then.
double Remember(int calls) {
  const cuheap::capture::StackPlace place = cuheap::capture::StackPlaceHere();
  std::uint64_t pcs[cuheap::capture::kMaxNativeFrames];
  cuheap::capture::WalkEvidence evidence;
  cuheap::capture::WalkNativeFrom(place, pcs, &evidence);
  memo.Keep(place, 1, evidence, 1);
  const double spent = NanosecondsACall(calls, [&] { sink = memo.Find(place, 1) != 0; });
  return sink != 0 ? spent : -1;
}

}  // namespace

#define EXPORT extern "C" __attribute__((visibility("default")))

EXPORT double cuheap_bench_python(int calls, int* frames) {
  python.Attach();
  PythonFrame walked[cuheap::capture::kMaxPythonFrames];
  bool cut = false;
  *frames = python.Walk(walked, &cut);
  return NanosecondsACall(calls, [&] { sink = python.Walk(walked, &cut); });
}

EXPORT double cuheap_bench_native(int calls) {
  return Below(cuheap::capture::kMaxNativeFrames, [=] { return Walk(calls); });
}

EXPORT double cuheap_bench_memo(int calls) {
  if (!memo.Start()) return -1;
  return Below(cuheap::capture::kMaxNativeFrames, [=] { return Remember(calls); });
}

EXPORT double cuheap_bench_owner(int calls) {
  const auto pc = reinterpret_cast<std::uint64_t>(&std::memcpy);
  cuheap::capture::Module module;
  return NanosecondsACall(calls, [&] { sink = cuheap::capture::FindModule(pc, &module) ? 1 : 0; });
}

// One block born and one gone, among `live` others; half of the figure is an event.
EXPORT double cuheap_bench_ledger(int calls, int live, const char* destination) {
  if (!ledger.is_open()) {
    cuheap::LedgerOptions options;
    options.destination = destination;
    options.shared_folder = "/dev/shm/cuheap-bench";
    if (!ledger.Open(options, cuheap::SystemClock())) return -1;
  }
  cuheap::Birth birth;
  birth.heap = cuheap::format::Heap::k_torch;
  birth.block_bytes = cuheap::Bytes(4096);
  birth.site = ledger.InternSite(birth.heap, 0, 0, 0, {});
  std::uint64_t next = 1;
  const auto address = [](std::uint64_t number) { return cuheap::Address(number << 12); };
  for (int i = 0; i < live; ++i) {
    birth.address = address(next++);
    ledger.Born(birth);
  }
  return NanosecondsACall(calls, [&] {
    birth.address = address(next++);
    ledger.Born(birth);
    ledger.Died(birth.heap, address(next - static_cast<std::uint64_t>(live) - 1),
                cuheap::Free::kFinal);
  });
}

EXPORT void cuheap_bench_close() { ledger.Close(); }
