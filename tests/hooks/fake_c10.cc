// The two functions that libc10 defines; they count what reaches them.
#include <cstddef>
#include <cstdint>

namespace c10 {
struct Device {
  std::int8_t type;
  std::int8_t index;
};
static std::int64_t counted = 0;

__attribute__((visibility("default"))) void reportMemoryUsageToProfiler(void*, std::int64_t bytes,
                                                                        std::size_t allocated,
                                                                        std::size_t reserved,
                                                                        Device device) {
  counted += bytes + static_cast<std::int64_t>(allocated + reserved) + device.index;
}
__attribute__((visibility("default"))) void reportOutOfMemoryToProfiler(std::int64_t bytes,
                                                                        std::size_t allocated,
                                                                        std::size_t reserved,
                                                                        Device device) {
  counted += bytes + static_cast<std::int64_t>(allocated + reserved) + device.index;
}
}  // namespace c10

extern "C" __attribute__((visibility("default"))) std::int64_t fake_c10_counted(void) {
  return c10::counted;
}
