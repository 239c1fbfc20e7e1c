// Initialisation and devices.
#include <cstdio>
#include <cstring>
#include <string>

#include "tests/sim/driver/support.h"
#include "tests/sim/engine/physical_memory.h"
#include "tests/sim/engine/settings.h"

namespace cuheap::sim {
namespace {

int AttributeOf(int device, CUdevice_attribute attribute) {
  int value = 0;
  DeviceAttribute(device, attribute, &value);
  return value;
}

// Where a device sits, as the names of its place say.
struct PciPlace {
  unsigned domain = 0;
  unsigned bus = 0;
  unsigned device = 0;
  unsigned function = 0;
  bool operator==(const PciPlace&) const = default;
};

// The three documented forms; all numbers are hexadecimal.
bool ReadPciPlace(const char* text, PciPlace* out) {
  char rest = 0;
  PciPlace& at = *out = {};
  if (std::sscanf(text, "%x:%x:%x.%x%c", &at.domain, &at.bus, &at.device, &at.function, &rest) == 4)
    return true;
  at = {};
  if (std::sscanf(text, "%x:%x:%x%c", &at.domain, &at.bus, &at.device, &rest) == 3) return true;
  at = {};
  return std::sscanf(text, "%x:%x.%x%c", &at.bus, &at.device, &at.function, &rest) == 3;
}

}  // namespace

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

// Devices have no LUID where there is no Windows display driver.
CUresult face::DeviceGetLuid(char* luid, unsigned* node_mask, CUdevice device) {
  CUHEAP_SIM_TRY(NeedPointers(luid, node_mask));
  CUHEAP_SIM_TRY(NeedDevice(device));
  std::memset(luid, 0, 8);
  *node_mask = 0;
  return CUDA_SUCCESS;
}

CUresult face::DeviceGetProperties(CUdevprop* out, CUdevice device) {
  CUHEAP_SIM_TRY(NeedPointers(out));
  CUHEAP_SIM_TRY(NeedDevice(device));
  const auto value = [&](CUdevice_attribute attribute) { return AttributeOf(device, attribute); };
  *out = {value(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK),
          {value(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X), value(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y),
           value(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z)},
          {value(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X), value(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y),
           value(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z)},
          value(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK),
          value(CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY),
          value(CU_DEVICE_ATTRIBUTE_WARP_SIZE),
          value(CU_DEVICE_ATTRIBUTE_MAX_PITCH),
          value(CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK),
          value(CU_DEVICE_ATTRIBUTE_CLOCK_RATE),
          value(CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT)};
  return CUDA_SUCCESS;
}

// Only a multi-process service binds contexts to a part of the multiprocessors.
CUresult face::DeviceGetExecAffinitySupport(int* supported, CUexecAffinityType type,
                                            CUdevice device) {
  CUHEAP_SIM_TRY(NeedPointers(supported));
  CUHEAP_SIM_TRY(NeedDevice(device));
  if (type < 0 || type >= CU_EXEC_AFFINITY_TYPE_MAX) return CUDA_ERROR_INVALID_VALUE;
  *supported = 0;
  return CUDA_SUCCESS;
}

// No device beside ours writes to the memory, so all of such writes are visible.
CUresult face::FlushGPUDirectRDMAWrites(CUflushGPUDirectRDMAWritesTarget target,
                                        CUflushGPUDirectRDMAWritesScope scope) {
  CUHEAP_SIM_TRY(NeedContext());
  const bool known = target == CU_FLUSH_GPU_DIRECT_RDMA_WRITES_TARGET_CURRENT_CTX &&
                     (scope == CU_FLUSH_GPU_DIRECT_RDMA_WRITES_TO_OWNER ||
                      scope == CU_FLUSH_GPU_DIRECT_RDMA_WRITES_TO_ALL_DEVICES);
  return known ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
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
  PciPlace wanted;
  if (!ReadPciPlace(text, &wanted)) return CUDA_ERROR_INVALID_VALUE;
  for (int candidate = 0; candidate < TheSettings().devices; ++candidate) {
    char name[16];
    PciPlace place;
    PciBusId(candidate, name, sizeof(name));
    if (ReadPciPlace(name, &place) && place == wanted) {
      *device = candidate;
      return CUDA_SUCCESS;
    }
  }
  return CUDA_ERROR_INVALID_DEVICE;
}

}  // namespace cuheap::sim
