// Devices: choice, properties, limits, peers, life.
#include <cstring>

#include "tests/sim/runtime/export.h"

using namespace cuheap::sim_runtime;

extern "C" cudaError_t cudaDriverGetVersion(int* version) {
  if (version == nullptr) return Record(cudaErrorInvalidValue);
  *version = 0;  // what a machine without a driver gets
  if (GetDriver(DefaultStream::kLegacy).get_proc_address == nullptr) return cudaSuccess;
  return Record(GetDriver(DefaultStream::kLegacy).cuDriverGetVersion(version));
}

extern "C" cudaError_t cudaRuntimeGetVersion(int* version) {
  if (version == nullptr) return Record(cudaErrorInvalidValue);
  *version = CUDART_VERSION;
  return cudaSuccess;
}

extern "C" cudaError_t cudaGetDeviceCount(int* count) {
  if (count == nullptr) return Record(cudaErrorInvalidValue);
  *count = 0;
  return InDriver([&](const Driver& driver) {
    const CUresult result = driver.cuDeviceGetCount(count);
    return result == CUDA_SUCCESS && *count == 0 ? CUDA_ERROR_NO_DEVICE : result;
  });
}

extern "C" cudaError_t cudaGetDevice(int* device) {
  return Record(device == nullptr ? CUDA_ERROR_INVALID_VALUE : CurrentDevice(device));
}

extern "C" cudaError_t cudaSetDevice(int device) { return Record(SelectDevice(device)); }

extern "C" cudaError_t cudaInitDevice(int device, unsigned int, unsigned int) {
  CUcontext context = nullptr;
  return Record(PrimaryContext(device, &context));
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
CUHEAP_FORWARD_DRIVER(cudaDeviceCanAccessPeer, cuDeviceCanAccessPeer,
                      (int* can, int device, int peer), can, device, peer)
CUHEAP_FORWARD_DRIVER(cudaDeviceGetP2PAttribute, cuDeviceGetP2PAttribute,
                      (int* value, cudaDeviceP2PAttr attribute, int source, int target), value,
                      attribute, source, target)
CUHEAP_FORWARD(cudaDeviceGetStreamPriorityRange, cuCtxGetStreamPriorityRange,
               (int* least, int* greatest), least, greatest)
CUHEAP_FORWARD(cudaDeviceGetLimit, cuCtxGetLimit, (size_t * value, cudaLimit limit), value, limit)
CUHEAP_FORWARD(cudaDeviceSetLimit, cuCtxSetLimit, (cudaLimit limit, size_t value), limit, value)
CUHEAP_FORWARD(cudaDeviceGetCacheConfig, cuCtxGetCacheConfig, (cudaFuncCache * config), config)
CUHEAP_FORWARD(cudaDeviceSetCacheConfig, cuCtxSetCacheConfig, (cudaFuncCache config), config)

extern "C" cudaError_t cudaSetDeviceFlags(unsigned int flags) {
  int device = 0;
  if (CUresult result = CurrentDevice(&device); result != CUDA_SUCCESS) return Record(result);
  return InDriver(
      [&](const Driver& driver) { return driver.cuDevicePrimaryCtxSetFlags(device, flags); });
}

extern "C" cudaError_t cudaGetDeviceFlags(unsigned int* flags) {
  int device = 0;
  int active = 0;
  if (CUresult result = CurrentDevice(&device); result != CUDA_SUCCESS) return Record(result);
  return InDriver([&](const Driver& driver) {
    return driver.cuDevicePrimaryCtxGetState(device, flags, &active);
  });
}

extern "C" cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned int flags) {
  return InContext(DefaultStream::kLegacy, [&](const Driver& driver) {
    CUcontext context = nullptr;
    const CUresult result = PrimaryContext(peer, &context);
    return result == CUDA_SUCCESS ? driver.cuCtxEnablePeerAccess(context, flags) : result;
  });
}

extern "C" cudaError_t cudaDeviceDisablePeerAccess(int peer) {
  return InContext(DefaultStream::kLegacy, [&](const Driver& driver) {
    CUcontext context = nullptr;
    const CUresult result = PrimaryContext(peer, &context);
    return result == CUDA_SUCCESS ? driver.cuCtxDisablePeerAccess(context) : result;
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

extern "C" cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
  if (properties == nullptr) return Record(cudaErrorInvalidValue);
  if (CUresult result = CheckDevice(device); result != CUDA_SUCCESS) return Record(result);
  std::memset(properties, 0, sizeof *properties);
  return InDriver([&](const Driver& driver) {
    CUuuid uuid{};
    CUresult result = driver.cuDeviceGetName(properties->name, sizeof properties->name, device);
    if (result == CUDA_SUCCESS)
      result = driver.cuDeviceTotalMem(&properties->totalGlobalMem, device);
    if (result == CUDA_SUCCESS) result = driver.cuDeviceGetUuid(&uuid, device);
    properties->uuid = uuid;
    FillAttributes(driver, properties, device);
    return result;
  });
}
