// Devices: choice, properties, limits, life.
#include "tests/sim/runtime/export.h"

using namespace cuheap::sim_runtime;

extern "C" cudaError_t cudaDriverGetVersion(int* version) {
  if (version == nullptr) return Record(cudaErrorInvalidValue);
  if (GetDriver(DefaultStream::kLegacy).get_proc_address != nullptr) {
    return Record(GetDriver(DefaultStream::kLegacy).cuDriverGetVersion(version));
  }
  *version = 0;  // what a machine without a driver gets
  return cudaSuccess;
}

extern "C" cudaError_t cudaRuntimeGetVersion(int* version) {
  if (version == nullptr) return Record(cudaErrorInvalidValue);
  *version = CUDART_VERSION;
  return cudaSuccess;
}

extern "C" cudaError_t cudaGetDeviceCount(int* count) {
  if (count == nullptr) return Record(cudaErrorInvalidValue);
  const cudaError_t result =
      InDriver([&](const Driver& driver) { return driver.cuDeviceGetCount(count); });
  if (result == cudaErrorNoDevice || result == cudaErrorInsufficientDriver) *count = 0;
  return result;
}

extern "C" cudaError_t cudaGetDevice(int* device) {
  return Record(device == nullptr ? CUDA_ERROR_INVALID_VALUE : CurrentDevice(device));
}

extern "C" cudaError_t cudaSetDevice(int device) { return Record(SelectDevice(device)); }

extern "C" cudaError_t cudaInitDevice(int device, unsigned int device_flags, unsigned int flags) {
  if ((flags & ~cudaInitDeviceFlagsAreValid) != 0) return Record(cudaErrorInvalidValue);
  if (CUresult result = CheckDevice(device); result != CUDA_SUCCESS) return Record(result);
  return InDriver([&](const Driver& driver) {
    CUcontext context = nullptr;
    const CUresult result = (flags & cudaInitDeviceFlagsAreValid) != 0
                                ? driver.cuDevicePrimaryCtxSetFlags(device, device_flags)
                                : CUDA_SUCCESS;
    return result == CUDA_SUCCESS ? PrimaryContext(device, &context) : result;
  });
}

extern "C" cudaError_t cudaDeviceReset() { return Record(ResetDevice()); }

extern "C" cudaError_t cudaDeviceSynchronize() {
  return InContext(DefaultStream::kLegacy,
                   [](const Driver& driver) { return driver.cuCtxSynchronize(); });
}

CUHEAP_FORWARD_DRIVER(cudaDeviceGetAttribute, cuDeviceGetAttribute,
                      (int* value, cudaDeviceAttr attribute, int device), value, attribute, device)
CUHEAP_FORWARD_DRIVER(cudaDeviceGetPCIBusId, cuDeviceGetPCIBusId,
                      (char* id, int length, int device), id, length, device)
CUHEAP_FORWARD_DRIVER(cudaDeviceGetByPCIBusId, cuDeviceGetByPCIBusId, (int* device, const char* id),
                      device, id)
CUHEAP_FORWARD(cudaDeviceGetStreamPriorityRange, cuCtxGetStreamPriorityRange,
               (int* least, int* greatest), least, greatest)
CUHEAP_FORWARD(cudaDeviceGetLimit, cuCtxGetLimit, (size_t * value, cudaLimit limit), value, limit)
CUHEAP_FORWARD(cudaDeviceSetLimit, cuCtxSetLimit, (cudaLimit limit, size_t value), limit, value)
CUHEAP_FORWARD(cudaDeviceGetCacheConfig, cuCtxGetCacheConfig, (cudaFuncCache * config), config)
CUHEAP_FORWARD(cudaDeviceSetCacheConfig, cuCtxSetCacheConfig, (cudaFuncCache config), config)

// Banks of shared memory are four bytes wide and nothing changes that.
extern "C" cudaError_t cudaDeviceGetSharedMemConfig(cudaSharedMemConfig* config) {
  if (config == nullptr) return Record(cudaErrorInvalidValue);
  return InContext(DefaultStream::kLegacy, [&](const Driver&) {
    *config = cudaSharedMemBankSizeFourByte;
    return CUDA_SUCCESS;
  });
}

extern "C" cudaError_t cudaDeviceSetSharedMemConfig(cudaSharedMemConfig config) {
  return InContext(DefaultStream::kLegacy, [&](const Driver&) {
    return config >= cudaSharedMemBankSizeDefault && config <= cudaSharedMemBankSizeEightByte
               ? CUDA_SUCCESS
               : CUDA_ERROR_INVALID_VALUE;
  });
}

CUHEAP_FORWARD(cudaDeviceFlushGPUDirectRDMAWrites, cuFlushGPUDirectRDMAWrites,
               (cudaFlushGPUDirectRDMAWritesTarget target, cudaFlushGPUDirectRDMAWritesScope scope),
               target, scope)

extern "C" cudaError_t cudaCtxResetPersistingL2Cache() {
  return InContext(DefaultStream::kLegacy,
                   [](const Driver& driver) { return driver.cuCtxResetPersistingL2Cache(); });
}

extern "C" cudaError_t cudaSetDeviceFlags(unsigned int flags) {
  int device = 0;
  if (CUresult result = CurrentDevice(&device); result != CUDA_SUCCESS) return Record(result);
  return InDriver([&](const Driver& driver) {
    CUcontext context = nullptr;
    const CUresult result = driver.cuDevicePrimaryCtxSetFlags(device, flags);
    return result == CUDA_SUCCESS ? PrimaryContext(device, &context) : result;
  });
}

extern "C" cudaError_t cudaGetDeviceFlags(unsigned int* flags) {
  int device = 0;
  int active = 0;
  if (CUresult result = CurrentDevice(&device); result != CUDA_SUCCESS) return Record(result);
  return InDriver([&](const Driver& driver) {
    // One that the program made with the driver goes before the device's own.
    CUcontext current = nullptr;
    if (driver.cuCtxGetCurrent(&current) == CUDA_SUCCESS && current != nullptr)
      return driver.cuCtxGetFlags(flags);
    return driver.cuDevicePrimaryCtxGetState(device, flags, &active);
  });
}

// No profiler is ever attached here, so starting and stopping one changes nothing, as on a real
// device without one.
extern "C" cudaError_t cudaProfilerStart() {
  return InContext(DefaultStream::kLegacy, [](const Driver&) { return CUDA_SUCCESS; });
}

extern "C" cudaError_t cudaProfilerStop() {
  return InContext(DefaultStream::kLegacy, [](const Driver&) { return CUDA_SUCCESS; });
}

namespace {

// Fields of cudaDeviceProp that are one device attribute each.
void FillAttributes(const Driver& driver, cudaDeviceProp* properties, int device) {
#define CUHEAP_DEVICE_PROPERTY(field, attribute)                                                  \
  {                                                                                               \
    int value = 0;                                                                                \
    driver.cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_##attribute, device);                 \
    properties->field = static_cast<std::remove_reference_t<decltype(properties->field)>>(value); \
  }
#include "tests/sim/runtime/device_properties.def"
#undef CUHEAP_DEVICE_PROPERTY
}

}  // namespace

extern "C" cudaError_t cudaGetDeviceProperties(cudaDeviceProp* out, int device) {
  if (out == nullptr) return Record(cudaErrorInvalidValue);
  if (CUresult result = CheckDevice(device); result != CUDA_SUCCESS) return Record(result);
  return InDriver([&](const Driver& driver) {
    cudaDeviceProp properties{};
    CUuuid uuid{};
    CUresult result = driver.cuDeviceGetName(properties.name, sizeof properties.name, device);
    if (result == CUDA_SUCCESS)
      result = driver.cuDeviceTotalMem(&properties.totalGlobalMem, device);
    if (result == CUDA_SUCCESS) result = driver.cuDeviceGetUuid(&uuid, device);
    if (result != CUDA_SUCCESS) return result;
    properties.uuid = uuid;
    FillAttributes(driver, &properties, device);
    *out = properties;
    return CUDA_SUCCESS;
  });
}
