// The device code that compiled programs carry: each object nvcc makes registers its binary,
// kernels and variables before main or when its library is loaded, long before a driver is needed.
// A binary becomes a driver library when one of its kernels or variables is asked for first.
//
// Threads: any. Registration takes a lock; a kernel that was found once is found again under a
// shared lock.
#pragma once

#include <cuda.h>

#include <cstddef>

namespace cuheap::sim_runtime {

// The kernel behind a host stub, or behind a cudaKernel_t that stands in its place.
// An unknown stub gives cudaErrorInvalidDeviceFunction's number.
CUresult KernelOf(const void* stub, CUkernel* kernel);

// The host stub of a kernel; where it has none, the kernel itself, which stands for one.
const void* StubOf(CUkernel kernel);

// The kernel as a function of the current context, for attributes and occupancy. REQUIRES a current
// context.
CUresult FunctionOf(const void* stub, CUfunction* function);

// A variable's address on the current context's device, and its size. An unknown variable gives
// cudaErrorInvalidSymbol's number.
CUresult VariableOf(const void* symbol, CUdeviceptr* address, std::size_t* size);

}  // namespace cuheap::sim_runtime
