// Initialisation and devices.
#include <cstring>
#include <string>

#include "tests/sim/driver/support.h"
#include "tests/sim/engine/physical_memory.h"

namespace cuheap::sim {

CUresult face::Init(unsigned flags) { return flags != 0 ? CUDA_ERROR_INVALID_VALUE : Initialise(); }

CUresult face::DriverGetVersion(int* version) {
  CUHEAP_SIM_TRY(NeedPointers(version));
  *version = TheSettings().driver_version;
  return CUDA_SUCCESS;
}

CUresult face::DeviceGet(CUdevice* device, int ordinal) {
  CUHEAP_SIM_TRY(NeedPointers(device));
  CUHEAP_SIM_TRY(NeedDevice(ordinal));
  *device = ordinal;
  return CUDA_SUCCESS;
}

CUresult face::DeviceGetCount(int* count) {
  CUHEAP_SIM_TRY(NeedPointers(count));
  *count = TheSettings().devices;
  return CUDA_SUCCESS;
}

CUresult face::DeviceGetName(char* name, int length, CUdevice device) {
  CUHEAP_SIM_TRY(NeedPointers(name));
  CUHEAP_SIM_TRY(NeedDevice(device));
  if (length <= 0) return CUDA_ERROR_INVALID_VALUE;
  const std::string& text = TheSettings().name;
  const auto room = static_cast<std::size_t>(length);
  std::strncpy(name, text.c_str(), room - 1);
  name[room - 1] = 0;
  return CUDA_SUCCESS;
}

CUresult face::DeviceGetUuid(CUuuid* uuid, CUdevice device) {
  return DeviceGetUuid_v2(uuid, device);
}

CUresult face::DeviceGetUuid_v2(CUuuid* uuid, CUdevice device) {
  CUHEAP_SIM_TRY(NeedPointers(uuid));
  CUHEAP_SIM_TRY(NeedDevice(device));
  *uuid = DeviceUuid(device);
  return CUDA_SUCCESS;
}

CUresult face::DeviceTotalMem_v2(size_t* bytes, CUdevice device) {
  CUHEAP_SIM_TRY(NeedPointers(bytes));
  CUHEAP_SIM_TRY(NeedDevice(device));
  *bytes = DeviceCapacity(device);
  return CUDA_SUCCESS;
}

CUresult face::DeviceGetAttribute(int* value, CUdevice_attribute attribute, CUdevice device) {
  CUHEAP_SIM_TRY(NeedPointers(value));
  CUHEAP_SIM_TRY(NeedDevice(device));
  return DeviceAttribute(device, attribute, value);
}

CUresult face::DeviceComputeCapability(int* major, int* minor, CUdevice device) {
  CUHEAP_SIM_TRY(NeedPointers(major, minor));
  CUHEAP_SIM_TRY(NeedDevice(device));
  *major = TheSettings().capability.major;
  *minor = TheSettings().capability.minor;
  return CUDA_SUCCESS;
}

CUresult face::DeviceGetPCIBusId(char* text, int length, CUdevice device) {
  CUHEAP_SIM_TRY(NeedPointers(text));
  CUHEAP_SIM_TRY(NeedDevice(device));
  if (length < 13) return CUDA_ERROR_INVALID_VALUE;
  PciBusId(device, text, length);
  return CUDA_SUCCESS;
}

CUresult face::DeviceGetByPCIBusId(CUdevice* device, const char* text) {
  CUHEAP_SIM_TRY(NeedPointers(device, text));
  for (int candidate = 0; candidate < TheSettings().devices; ++candidate) {
    char name[16];
    PciBusId(candidate, name, sizeof(name));
    if (std::strcmp(name, text) == 0) {
      *device = candidate;
      return CUDA_SUCCESS;
    }
  }
  return CUDA_ERROR_INVALID_DEVICE;
}

CUresult face::DeviceCanAccessPeer(int* can, CUdevice device, CUdevice peer) {
  CUHEAP_SIM_TRY(NeedPointers(can));
  CUHEAP_SIM_TRY(NeedDevice(device));
  CUHEAP_SIM_TRY(NeedDevice(peer));
  *can = device != peer ? 1 : 0;
  return CUDA_SUCCESS;
}

CUresult face::DeviceGetP2PAttribute(int* value, CUdevice_P2PAttribute attribute, CUdevice from,
                                     CUdevice to) {
  CUHEAP_SIM_TRY(NeedPointers(value));
  CUHEAP_SIM_TRY(NeedDevice(from));
  CUHEAP_SIM_TRY(NeedDevice(to));
  if (from == to) return CUDA_ERROR_INVALID_DEVICE;
  *value = attribute == CU_DEVICE_P2P_ATTRIBUTE_PERFORMANCE_RANK ? 0 : 1;
  return CUDA_SUCCESS;
}

CUresult face::CtxEnablePeerAccess(CUcontext peer, unsigned flags) {
  if (flags != 0) return CUDA_ERROR_INVALID_VALUE;
  Context* context = nullptr;
  CUHEAP_SIM_TRY(CurrentContext(&context));
  const Context* other = FindContext(peer);
  if (other == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  return EnablePeer(context->device, other->device);
}

CUresult face::CtxDisablePeerAccess(CUcontext peer) {
  Context* context = nullptr;
  CUHEAP_SIM_TRY(CurrentContext(&context));
  const Context* other = FindContext(peer);
  if (other == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  return DisablePeer(context->device, other->device);
}

}  // namespace cuheap::sim
