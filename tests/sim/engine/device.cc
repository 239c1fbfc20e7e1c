#include "tests/sim/engine/device.h"

#include <cstdio>
#include <cstring>

#include "tests/sim/engine/control_block.h"

namespace cuheap::sim {
namespace {

constexpr int kFirstBus = 0x17;

struct Attributes {
  int values[CU_DEVICE_ATTRIBUTE_MAX] = {};
  Attributes() {
#define ATTRIBUTE(name, value) values[CU_DEVICE_ATTRIBUTE_##name] = value;
#include "tests/sim/engine/device_attributes.def"
#undef ATTRIBUTE
  }
};

}  // namespace

bool IsDevice(int device) { return device >= 0 && device < TheSettings().devices; }

CUresult DeviceAttribute(int device, int attribute, int* out) {
  static const Attributes attributes;
  if (attribute <= 0 || attribute >= CU_DEVICE_ATTRIBUTE_MAX) return CUDA_ERROR_INVALID_VALUE;
  switch (attribute) {
    case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT:
      *out = TheSettings().sms;
      break;
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR:
      *out = TheSettings().capability.major;
      break;
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR:
      *out = TheSettings().capability.minor;
      break;
    case CU_DEVICE_ATTRIBUTE_MULTICAST_SUPPORTED:
      *out = TheSettings().capability.major >= 9 ? 1 : 0;
      break;
    case CU_DEVICE_ATTRIBUTE_PCI_BUS_ID:
      *out = kFirstBus + device;
      break;
    default:
      *out = attributes.values[attribute];
  }
  return CUDA_SUCCESS;
}

CUuuid DeviceUuid(int device) {
  CUuuid uuid{};
  std::memcpy(uuid.bytes, "cuheap-sim-dev", 14);
  uuid.bytes[15] = static_cast<char>(device);
  return uuid;
}

void PciBusId(int device, char* out, int length) {
  std::snprintf(out, static_cast<std::size_t>(length), "0000:%02X:00.0", kFirstBus + device);
}

}  // namespace cuheap::sim
