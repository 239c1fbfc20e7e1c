// What the files of the simulated NVML share: initialisation and device handles.
#pragma once

// Without the unversioned aliases every function is named as it is exported.
#define NVML_NO_UNVERSIONED_FUNC_DEFS
#include <nvml.h>

namespace cuheap::sim_nvml {

// NVML_ERROR_UNINITIALIZED before nvmlInit and after the last nvmlShutdown.
nvmlReturn_t Ready();

// The device behind a handle; NVML_ERROR_INVALID_ARGUMENT if it is none.
nvmlReturn_t DeviceOf(nvmlDevice_t handle, int* device);
nvmlDevice_t HandleOf(int device);

// Copies a text into the caller's buffer, or NVML_ERROR_INSUFFICIENT_SIZE.
nvmlReturn_t CopyText(const char* text, char* out, unsigned int length);

}  // namespace cuheap::sim_nvml
