// What a range of managed memory says of itself.
#include <algorithm>
#include <cstring>
#include <vector>

#include "tests/sim/driver/support.h"
#include "tests/sim/engine/allocation_table.h"
#include "tests/sim/engine/managed_memory.h"

namespace cuheap::sim {
namespace {

using Parts = std::vector<ManagedAdvice>;

// The one location of all parts, or none.
CUmemLocation Common(const Parts& parts, CUmemLocation ManagedAdvice::*member) {
  const CUmemLocation first = parts.front().*member;
  const bool same = std::all_of(parts.begin(), parts.end(), [&](const ManagedAdvice& part) {
    return (part.*member).type == first.type && (part.*member).id == first.id;
  });
  return same ? first : CUmemLocation{CU_MEM_LOCATION_TYPE_INVALID, 0};
}

int DeviceOf(const CUmemLocation& location) {
  switch (location.type) {
    case CU_MEM_LOCATION_TYPE_DEVICE:
      return location.id;
    case CU_MEM_LOCATION_TYPE_INVALID:
      return CU_DEVICE_INVALID;
    default:
      return CU_DEVICE_CPU;
  }
}

// As the attributes know it that tell only devices and the host apart.
int CommonDevice(const Parts& parts, CUmemLocation ManagedAdvice::*member) {
  const int first = DeviceOf(parts.front().*member);
  const bool same = std::all_of(parts.begin(), parts.end(), [&](const ManagedAdvice& part) {
    return DeviceOf(part.*member) == first;
  });
  return same ? first : CU_DEVICE_INVALID;
}

std::vector<int> Accessors(const Parts& parts) {
  std::uint32_t all = UINT32_MAX;
  for (const ManagedAdvice& part : parts) all &= part.accessed_by;
  std::vector<int> devices;
  for (int device = 0; device < kMaxDevices; ++device) {
    if ((all >> device & 1U) != 0) devices.push_back(device);
  }
  if ((all >> kHostAccess & 1U) != 0) devices.push_back(CU_DEVICE_CPU);
  return devices;
}

int Answer(const Parts& parts, CUmem_range_attribute attribute) {
  const CUmemLocation preferred = Common(parts, &ManagedAdvice::preferred);
  const CUmemLocation prefetched = Common(parts, &ManagedAdvice::prefetched);
  switch (attribute) {
    case CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY:
      return std::all_of(parts.begin(), parts.end(),
                         [](const ManagedAdvice& part) { return part.read_mostly; });
    case CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION:
      return CommonDevice(parts, &ManagedAdvice::preferred);
    case CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_TYPE:
      return static_cast<int>(preferred.type);
    case CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_ID:
      return preferred.id;
    case CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION:
      return CommonDevice(parts, &ManagedAdvice::prefetched);
    case CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_TYPE:
      return static_cast<int>(prefetched.type);
    default:
      return prefetched.id;
  }
}

CUresult CheckQuery(const void* data, size_t size, CUmem_range_attribute attribute) {
  CUHEAP_SIM_TRY(NeedPointers(data));
  if (attribute < CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY ||
      attribute > CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_ID) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  const bool list = attribute == CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY;
  const bool fits = list ? size != 0 && size % sizeof(int) == 0 : size == sizeof(int);
  return fits ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

void Give(const Parts& parts, void* data, size_t size, CUmem_range_attribute attribute) {
  std::vector<int> values{0};
  if (attribute == CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY) {
    values = Accessors(parts);
    values.resize(size / sizeof(int), CU_DEVICE_INVALID);
  } else {
    values[0] = Answer(parts, attribute);
  }
  std::memcpy(data, values.data(), size);
}

}  // namespace

CUresult face::MemRangeGetAttribute(void* data, size_t size, CUmem_range_attribute attribute,
                                    CUdeviceptr base, size_t bytes) {
  return MemRangeGetAttributes(&data, &size, &attribute, 1, base, bytes);
}

CUresult face::MemRangeGetAttributes(void** data, size_t* sizes, CUmem_range_attribute* attributes,
                                     size_t count, CUdeviceptr base, size_t bytes) {
  CUHEAP_SIM_TRY(NeedPointers(data, sizes, attributes));
  if (count == 0) return CUDA_ERROR_INVALID_VALUE;
  for (size_t i = 0; i < count; ++i) CUHEAP_SIM_TRY(CheckQuery(data[i], sizes[i], attributes[i]));
  const EngineLock lock;
  if (!IsManagedRange(base, bytes)) return CUDA_ERROR_INVALID_VALUE;
  const Parts parts = AdviceOf(base, bytes);
  for (size_t i = 0; i < count; ++i) Give(parts, data[i], sizes[i], attributes[i]);
  return CUDA_SUCCESS;
}

}  // namespace cuheap::sim
