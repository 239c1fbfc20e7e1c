// The driver seam over libcuda. Nothing of CUDA is linked: functions are asked for by name.
//
// Laws (those of driver.h, and): 1. Memory and events belong to a device's primary context, which
// the
//      first call for that device creates, as the runtime does, and which is never released.
//      2. An event for a stream of another context belongs to that context.
// Threads: any, once Start has returned.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>

#include "allocator/driver/driver.h"

namespace cuheap {

enum class CudaFunction : std::uint8_t {
#define CUHEAP_CUDA(name, version) k_##name,
#define CUHEAP_CUDA_OPTIONAL(name, version) k_##name,
#include "allocator/driver/cuda_functions.def"
#undef CUHEAP_CUDA
#undef CUHEAP_CUDA_OPTIONAL
  kCount
};

class CudaDriver final : public Driver {
 public:
  // A function of the driver in the ABI of a version of CUDA; null: there is none.
  using Find = void* (*)(const char* name, int version);

  // Loads libcuda.so.1, if that was not done, and asks its cuGetProcAddress.
  static void* FindInLibcuda(const char* name, int version);

  // Finds the functions and begins CUDA. kNotSupported: no driver, or a function is missing: then
  // missing() names it. Once.
  DriverStatus Start(Find find);
  const char* missing() const { return missing_; }

#define CUHEAP_DRIVER_CALL(name, parameters, arguments) DriverStatus name parameters override;
#include "allocator/driver/driver_calls.def"
#undef CUHEAP_DRIVER_CALL

  static constexpr std::uint32_t kMostDevices = 64;

 private:
  template <CudaFunction kFunction, class... Arguments>
  DriverStatus Call(Arguments... arguments) const;
  template <class Work>
  DriverStatus InContext(void* context, Work&& work) const;
  template <class Work>
  DriverStatus OnDevice(DeviceId device, Work&& work);
  DriverStatus FindPrimary(DeviceId device, void** context);

  std::array<void*, static_cast<std::size_t>(CudaFunction::kCount)> functions_{};
  const char* missing_ = nullptr;
  std::array<std::atomic<void*>, kMostDevices> primaries_{};  // contexts; null: not asked for yet
};

}  // namespace cuheap
