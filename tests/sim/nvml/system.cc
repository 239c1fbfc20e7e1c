#include <atomic>
#include <cstdint>
#include <cstring>

#include "tests/sim/engine/call_gate.h"
#include "tests/sim/engine/device.h"
#include "tests/sim/engine/settings.h"
#include "tests/sim/nvml/handles.h"

namespace cuheap::sim_nvml {
namespace {

std::atomic<int> initialised{0};

}  // namespace

nvmlReturn_t Ready() { return initialised.load() > 0 ? NVML_SUCCESS : NVML_ERROR_UNINITIALIZED; }

nvmlReturn_t DeviceOf(nvmlDevice_t handle, int* device) {
  if (nvmlReturn_t ready = Ready(); ready != NVML_SUCCESS) return ready;
  const auto number = static_cast<int>(reinterpret_cast<std::uintptr_t>(handle)) - 1;
  if (!sim::IsDevice(number)) return NVML_ERROR_INVALID_ARGUMENT;
  *device = number;
  return NVML_SUCCESS;
}

nvmlDevice_t HandleOf(int device) {
  return reinterpret_cast<nvmlDevice_t>(static_cast<std::uintptr_t>(device) + 1);
}

nvmlReturn_t CopyText(const char* text, char* out, unsigned int length) {
  const std::size_t bytes = std::strlen(text) + 1;
  if (bytes > length) return NVML_ERROR_INSUFFICIENT_SIZE;
  std::memcpy(out, text, bytes);
  return NVML_SUCCESS;
}

}  // namespace cuheap::sim_nvml

using namespace cuheap::sim_nvml;

// NVML needs no cuInit, so it opens the simulated machine itself.
extern "C" nvmlReturn_t nvmlInit_v2() {
  if (cuheap::sim::Initialise() != CUDA_SUCCESS) return NVML_ERROR_DRIVER_NOT_LOADED;
  initialised.fetch_add(1);
  return NVML_SUCCESS;
}

extern "C" nvmlReturn_t nvmlInit() { return nvmlInit_v2(); }
extern "C" nvmlReturn_t nvmlInitWithFlags(unsigned int) { return nvmlInit_v2(); }

extern "C" nvmlReturn_t nvmlShutdown() {
  if (nvmlReturn_t ready = Ready(); ready != NVML_SUCCESS) return ready;
  initialised.fetch_sub(1);
  return NVML_SUCCESS;
}

extern "C" const char* nvmlErrorString(nvmlReturn_t result) {
  switch (result) {
    case NVML_SUCCESS:
      return "Success";
    case NVML_ERROR_UNINITIALIZED:
      return "Uninitialized";
    case NVML_ERROR_INVALID_ARGUMENT:
      return "Invalid Argument";
    case NVML_ERROR_NOT_SUPPORTED:
      return "Not Supported";
    case NVML_ERROR_NOT_FOUND:
      return "Not Found";
    case NVML_ERROR_INSUFFICIENT_SIZE:
      return "Insufficient Size";
    case NVML_ERROR_DRIVER_NOT_LOADED:
      return "Driver Not Loaded";
    default:
      return "Unknown Error";
  }
}

extern "C" nvmlReturn_t nvmlSystemGetCudaDriverVersion_v2(int* version) {
  *version = cuheap::sim::TheSettings().driver_version;
  return NVML_SUCCESS;
}
extern "C" nvmlReturn_t nvmlSystemGetCudaDriverVersion(int* version) {
  return nvmlSystemGetCudaDriverVersion_v2(version);
}
extern "C" nvmlReturn_t nvmlSystemGetDriverVersion(char* version, unsigned int length) {
  return CopyText("580.0 (simulated)", version, length);
}
extern "C" nvmlReturn_t nvmlSystemGetNVMLVersion(char* version, unsigned int length) {
  return CopyText("13.580.0 (simulated)", version, length);
}
