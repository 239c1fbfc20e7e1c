// A caching allocator as small as can be: one segment, blocks of it reported as libc10_cuda reports
// its own.
#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>

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

extern "C" std::int64_t fake_c10_counted(void);

extern "C" __attribute__((visibility("default"))) int plugin_allocate(void) {
  int count = 0;
  cudaGetDeviceCount(&count);
  void* segments[2] = {};
  for (void*& segment : segments) cudaMalloc(&segment, 2 << 20);
  char* memory = static_cast<char*>(segments[0]);
  for (int i = 0; i < 4; ++i) c10::reportMemoryUsageToProfiler(memory + i * 512, 512, 1, 1, {1, 0});
  c10::reportMemoryUsageToProfiler(memory, -512, 1, 1, {1, 0});
  int host = 0;
  c10::reportMemoryUsageToProfiler(&host, 4096, 0, 0, {0, -1});
  void* refused = nullptr;
  cudaMalloc(&refused, std::size_t{1} << 40);
  c10::reportOutOfMemoryToProfiler(77, 1, 1, {1, 0});
  return static_cast<int>(fake_c10_counted());
}
