// The torch door: tensors inside PyTorch's own caching allocator. libc10_cuda reports every block
// to two functions of libc10 through the PLT, whether a profiler runs or not; ours stand in front
// of them. They are called under the allocator's lock, mostly without the GIL: nothing here takes a
// lock of anybody's, asks the driver or looks up a symbol. What came in is forwarded, or torch's
// profiler would lose its memory events.
#include "hooks/preload/torch_door.h"

#include <atomic>

#include "hooks/preload/call.h"
#include "hooks/preload/doors.h"
#include "hooks/preload/figures.h"

// As torch lays it out: one register, the type in the low byte.
namespace c10 {
struct Device {
  std::int8_t type;
  std::int8_t index;
};
void reportMemoryUsageToProfiler(void* address, std::int64_t bytes, std::size_t allocated,
                                 std::size_t reserved, Device device);
void reportOutOfMemoryToProfiler(std::int64_t bytes, std::size_t allocated, std::size_t reserved,
                                 Device device);
}  // namespace c10

namespace cuheap::preload {
namespace {

constexpr std::int8_t kCuda = 1;

constinit std::atomic<decltype(&c10::reportMemoryUsageToProfiler)> real_usage{nullptr};
constinit std::atomic<decltype(&c10::reportOutOfMemoryToProfiler)> real_out_of_memory{nullptr};

// An index below 0 means "the current device", which the allocator never says.
std::uint32_t Ordinal(c10::Device device) {
  return device.index < 0 ? 0 : static_cast<std::uint32_t>(device.index);
}

void Tell(void* address, std::int64_t bytes, c10::Device device, const void* caller) {
  if (bytes < 0) {
    Core().block_died(CUHEAP_HEAP_TORCH, reinterpret_cast<std::uint64_t>(address));
    return;
  }
  cuheap_block block = {};
  block.address = reinterpret_cast<std::uint64_t>(address);
  block.block_bytes = static_cast<std::uint64_t>(bytes);
  block.device = Ordinal(device);
  block.heap = CUHEAP_HEAP_TORCH;
  block.flags = CaptureFlag();
  block.caller = caller;
  Core().block_born(&block);
}

}  // namespace

void FindTorch() {
  if (real_usage.load(std::memory_order_acquire) != nullptr) return;
  const auto find = [](const char* symbol) { return FindLoaded("libc10.so", symbol); };
  real_out_of_memory.store(reinterpret_cast<decltype(&c10::reportOutOfMemoryToProfiler)>(
                               find("_ZN3c1027reportOutOfMemoryToProfilerElmmNS_6DeviceE")),
                           std::memory_order_release);
  real_usage.store(reinterpret_cast<decltype(&c10::reportMemoryUsageToProfiler)>(
                       find("_ZN3c1027reportMemoryUsageToProfilerEPvlmmNS_6DeviceE")),
                   std::memory_order_release);
}

}  // namespace cuheap::preload

using namespace cuheap::preload;

[[gnu::hot, gnu::visibility("default")]] void c10::reportMemoryUsageToProfiler(
    void* address, std::int64_t bytes, std::size_t allocated, std::size_t reserved, Device device) {
  if (device.type == kCuda && !inside)
    Tell(address, bytes, device, CUHEAP_CALLER);
  else
    FindTorch();
  if (const auto real = real_usage.load(std::memory_order_acquire); real != nullptr)
    real(address, bytes, allocated, reserved, device);
}

[[gnu::visibility("default")]] void c10::reportOutOfMemoryToProfiler(std::int64_t bytes,
                                                                     std::size_t allocated,
                                                                     std::size_t reserved,
                                                                     Device device) {
  if (device.type == kCuda)
    Core().out_of_memory(Ordinal(device), static_cast<std::uint64_t>(bytes));
  if (const auto real = real_out_of_memory.load(std::memory_order_acquire); real != nullptr)
    real(bytes, allocated, reserved, device);
}
