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
constinit cuheap::Ledger ledger;
volatile int sink;

// A stack of at least `depth` native frames above the walk.
[[gnu::noinline]] double WalkBelow(int depth, int calls) {
  if (depth > 0) {
    const double result = WalkBelow(depth - 1, calls);
    sink = depth;  // keeps this frame: no tail call
    return result;
  }
  std::uint64_t pcs[cuheap::capture::kMaxNativeFrames];
  return NanosecondsACall(calls, [&] { sink = cuheap::capture::WalkNative(pcs, 0); });
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
  return WalkBelow(cuheap::capture::kMaxNativeFrames, calls);
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
    ledger.Died(birth.heap, address(next - static_cast<std::uint64_t>(live) - 1));
  });
}

EXPORT void cuheap_bench_close() { ledger.Close(); }
