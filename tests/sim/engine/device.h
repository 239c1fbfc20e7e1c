// What a device says about itself. Figures are those of a Hopper-class card; a table of attributes
// (device_attributes.def) holds what does not depend on the settings.
#pragma once

#include <cuda.h>

namespace cuheap::sim {

inline constexpr int kMaxSharedPerBlock = 232448;

bool IsDevice(int device);
// INVALID_VALUE: no such attribute. Attributes the table does not name are 0.
CUresult DeviceAttribute(int device, int attribute, int* out);
CUuuid DeviceUuid(int device);
// "0000:17:00.0"; devices sit on consecutive buses.
void PciBusId(int device, char* out, int length);

}  // namespace cuheap::sim
