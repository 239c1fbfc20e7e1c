// Which device and context a thread works on, and when the runtime makes one: a primary context is
// retained by the first call that needs it (or by cudaSetDevice), never by a query of devices or
// versions.
//
// Threads: any. A device's primary context is retained once for the whole process.
// Laws: 1. A context that the program made current through the driver is used as it is.
//       2. After cudaDeviceReset every thread binds anew at its next call.
#pragma once

#include <cuda.h>
#include <cuda_runtime_api.h>

namespace cuheap::sim_runtime {

// Makes sure that this thread has a current context: that of its device, or of the first available
// one.
CUresult EnsureContext();

// The thread's device: that of its current context, else the one chosen last, else the first valid
// one. Makes no context.
CUresult CurrentDevice(int* device);

// Chooses a device for this thread and makes its primary context current.
CUresult SelectDevice(int device);

// The devices of the process that a thread which chose none tries in this order, until one is
// available; none of them: all, which is so at first. INVALID_DEVICE: one does not exist.
// cudaErrorSetOnActiveProcess's number: the thread has a context.
CUresult SetValidDevices(const int* devices, int count);

// The primary context of a device, retained on first need.
CUresult PrimaryContext(int device, CUcontext* context);

// CUDA_ERROR_INVALID_DEVICE for an ordinal that does not exist.
CUresult CheckDevice(int device);

// Destroys the primary context of this thread's device; the next call makes a new one. Where
// another context is current, that stays.
CUresult ResetDevice();

// Whether `error` is the sticky error of this thread's context. Calls the driver only for errors
// that can be one.
bool IsBroken(cudaError_t error);

}  // namespace cuheap::sim_runtime
