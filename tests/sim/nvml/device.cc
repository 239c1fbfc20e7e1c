// Finding devices, and what they are.
#include "tests/sim/engine/device.h"

#include <cstdio>
#include <cstring>

#include "tests/sim/engine/settings.h"
#include "tests/sim/nvml/handles.h"

using namespace cuheap::sim_nvml;
using cuheap::sim::TheSettings;

namespace {

constexpr unsigned int kUuidBuffer = 48;

// GPU- and the bytes in the groups of a UUID.
void WriteUuid(int device, char (&out)[kUuidBuffer]) {
  const CUuuid uuid = cuheap::sim::DeviceUuid(device);
  int at = std::snprintf(out, kUuidBuffer, "GPU-");
  for (int i = 0; i < 16; ++i) {
    const char* dash = i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "";
    at += std::snprintf(out + at, kUuidBuffer - static_cast<unsigned int>(at), "%s%02x", dash,
                        static_cast<unsigned char>(uuid.bytes[i]));
  }
}

int AttributeOf(int device, int attribute) {
  int value = 0;
  cuheap::sim::DeviceAttribute(device, attribute, &value);
  return value;
}

template <typename Matches>
nvmlReturn_t FindDevice(nvmlDevice_t* handle, Matches&& matches) {
  if (nvmlReturn_t ready = Ready(); ready != NVML_SUCCESS) return ready;
  for (int device = 0; device < TheSettings().devices; ++device) {
    if (!matches(device)) continue;
    *handle = HandleOf(device);
    return NVML_SUCCESS;
  }
  return NVML_ERROR_NOT_FOUND;
}

}  // namespace

extern "C" nvmlReturn_t nvmlDeviceGetCount_v2(unsigned int* count) {
  if (nvmlReturn_t ready = Ready(); ready != NVML_SUCCESS) return ready;
  *count = static_cast<unsigned int>(TheSettings().devices);
  return NVML_SUCCESS;
}
extern "C" nvmlReturn_t nvmlDeviceGetCount(unsigned int* count) {
  return nvmlDeviceGetCount_v2(count);
}

extern "C" nvmlReturn_t nvmlDeviceGetHandleByIndex_v2(unsigned int index, nvmlDevice_t* handle) {
  if (nvmlReturn_t ready = Ready(); ready != NVML_SUCCESS) return ready;
  if (!cuheap::sim::IsDevice(static_cast<int>(index))) return NVML_ERROR_INVALID_ARGUMENT;
  *handle = HandleOf(static_cast<int>(index));
  return NVML_SUCCESS;
}
extern "C" nvmlReturn_t nvmlDeviceGetHandleByIndex(unsigned int index, nvmlDevice_t* handle) {
  return nvmlDeviceGetHandleByIndex_v2(index, handle);
}

// "domain:bus:device.function" in hexadecimal; the domain has four or eight digits.
extern "C" nvmlReturn_t nvmlDeviceGetHandleByPciBusId_v2(const char* id, nvmlDevice_t* handle) {
  unsigned int domain = 0;
  unsigned int bus = 0;
  if (id == nullptr || std::sscanf(id, "%x:%x", &domain, &bus) != 2)
    return NVML_ERROR_INVALID_ARGUMENT;
  return FindDevice(handle, [&](int device) {
    return domain == 0 &&
           static_cast<int>(bus) == AttributeOf(device, CU_DEVICE_ATTRIBUTE_PCI_BUS_ID);
  });
}

extern "C" nvmlReturn_t nvmlDeviceGetHandleByUUID(const char* wanted, nvmlDevice_t* handle) {
  if (wanted == nullptr) return NVML_ERROR_INVALID_ARGUMENT;
  return FindDevice(handle, [&](int device) {
    char uuid[kUuidBuffer];
    WriteUuid(device, uuid);
    return std::strcmp(uuid, wanted) == 0;
  });
}

extern "C" nvmlReturn_t nvmlDeviceGetIndex(nvmlDevice_t handle, unsigned int* index) {
  int device = 0;
  if (nvmlReturn_t result = DeviceOf(handle, &device); result != NVML_SUCCESS) return result;
  *index = static_cast<unsigned int>(device);
  return NVML_SUCCESS;
}

extern "C" nvmlReturn_t nvmlDeviceGetMinorNumber(nvmlDevice_t handle, unsigned int* minor) {
  return nvmlDeviceGetIndex(handle, minor);
}

extern "C" nvmlReturn_t nvmlDeviceGetUUID(nvmlDevice_t handle, char* out, unsigned int length) {
  int device = 0;
  if (nvmlReturn_t result = DeviceOf(handle, &device); result != NVML_SUCCESS) return result;
  char uuid[kUuidBuffer];
  WriteUuid(device, uuid);
  return CopyText(uuid, out, length);
}

extern "C" nvmlReturn_t nvmlDeviceGetName(nvmlDevice_t handle, char* out, unsigned int length) {
  int device = 0;
  if (nvmlReturn_t result = DeviceOf(handle, &device); result != NVML_SUCCESS) return result;
  return CopyText(TheSettings().name.c_str(), out, length);
}

extern "C" nvmlReturn_t nvmlDeviceGetCudaComputeCapability(nvmlDevice_t handle, int* major,
                                                           int* minor) {
  int device = 0;
  if (nvmlReturn_t result = DeviceOf(handle, &device); result != NVML_SUCCESS) return result;
  *major = TheSettings().capability.major;
  *minor = TheSettings().capability.minor;
  return NVML_SUCCESS;
}

extern "C" nvmlReturn_t nvmlDeviceGetPciInfo_v3(nvmlDevice_t handle, nvmlPciInfo_t* info) {
  int device = 0;
  if (nvmlReturn_t result = DeviceOf(handle, &device); result != NVML_SUCCESS) return result;
  std::memset(info, 0, sizeof *info);
  info->bus = static_cast<unsigned int>(AttributeOf(device, CU_DEVICE_ATTRIBUTE_PCI_BUS_ID));
  std::snprintf(info->busIdLegacy, sizeof info->busIdLegacy, "0000:%02X:00.0", info->bus);
  std::snprintf(info->busId, sizeof info->busId, "00000000:%02X:00.0", info->bus);
  return NVML_SUCCESS;
}

extern "C" nvmlReturn_t nvmlDeviceGetP2PStatus(nvmlDevice_t first, nvmlDevice_t second,
                                               nvmlGpuP2PCapsIndex_t, nvmlGpuP2PStatus_t* status) {
  int device = 0;
  if (nvmlReturn_t result = DeviceOf(first, &device); result != NVML_SUCCESS) return result;
  if (nvmlReturn_t result = DeviceOf(second, &device); result != NVML_SUCCESS) return result;
  *status = NVML_P2P_STATUS_OK;
  return NVML_SUCCESS;
}

// The devices have no links, no fabric and no partitions: what such a card answers.
extern "C" nvmlReturn_t nvmlDeviceGetNvLinkRemoteDeviceType(nvmlDevice_t, unsigned int,
                                                            nvmlIntNvLinkDeviceType_t*) {
  return NVML_ERROR_NOT_SUPPORTED;
}
extern "C" nvmlReturn_t nvmlDeviceGetNvLinkRemotePciInfo_v2(nvmlDevice_t, unsigned int,
                                                            nvmlPciInfo_t*) {
  return NVML_ERROR_NOT_SUPPORTED;
}
extern "C" nvmlReturn_t nvmlDeviceGetGpuFabricInfoV(nvmlDevice_t handle,
                                                    nvmlGpuFabricInfoV_t* info) {
  int device = 0;
  if (nvmlReturn_t result = DeviceOf(handle, &device); result != NVML_SUCCESS) return result;
  const unsigned int version = info->version;
  if (version != nvmlGpuFabricInfo_v2 && version != nvmlGpuFabricInfo_v3)
    return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
  static_assert(NVML_GPU_FABRIC_STATE_NOT_SUPPORTED == 0, "so a cleared record says it");
  const std::size_t bytes = version & 0xFFFFFF;  // a version carries the size of its record
  std::memset(static_cast<void*>(info), 0, bytes);
  info->version = version;
  return NVML_SUCCESS;
}
extern "C" nvmlReturn_t nvmlDeviceGetMigMode(nvmlDevice_t, unsigned int*, unsigned int*) {
  return NVML_ERROR_NOT_SUPPORTED;
}
