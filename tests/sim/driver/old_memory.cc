// The first ABI of memory: addresses and sizes of 32 bits. What is allocated through it lies below
// 4 GiB; what does not fit into an answer is refused where it is an address, and cut to the largest
// number where it is a size.
#include <algorithm>
#include <limits>

#include "tests/sim/driver/support.h"
#include "tests/sim/engine/device_memory.h"
#include "tests/sim/engine/physical_memory.h"

namespace cuheap::sim {
namespace {

constexpr std::uint64_t kMost = std::numeric_limits<unsigned>::max();

unsigned Cut(std::uint64_t bytes) { return static_cast<unsigned>(std::min(bytes, kMost)); }

CUresult Narrow(CUdeviceptr address, CUdeviceptr_v1* out) {
  if (address > kMost) return CUDA_ERROR_INVALID_VALUE;
  *out = static_cast<CUdeviceptr_v1>(address);
  return CUDA_SUCCESS;
}

}  // namespace

CUresult face::DeviceTotalMem(unsigned* bytes, CUdevice device) {
  CUHEAP_SIM_TRY(NeedPointers(bytes));
  CUHEAP_SIM_TRY(NeedDevice(device));
  *bytes = Cut(DeviceCapacity(device));
  return CUDA_SUCCESS;
}

CUresult face::MemGetInfo(unsigned* free, unsigned* total) {
  size_t free_bytes = 0;
  size_t total_bytes = 0;
  CUHEAP_SIM_TRY(MemGetInfo_v2(&free_bytes, &total_bytes));
  WriteIfAsked(free, Cut(free_bytes));
  WriteIfAsked(total, Cut(total_bytes));
  return CUDA_SUCCESS;
}

CUresult face::MemAlloc(CUdeviceptr_v1* out, unsigned bytes) {
  CUHEAP_SIM_TRY(NeedPointers(out));
  Context* context = nullptr;
  CUHEAP_SIM_TRY(CurrentContext(&context));
  CUHEAP_SIM_TRY(CheckUnsafeCall());
  std::uintptr_t address = 0;
  CUHEAP_SIM_TRY(AllocateBelow4GiB(context, bytes, &address));
  return Narrow(address, out);
}

CUresult face::MemAllocPitch(CUdeviceptr_v1* out, unsigned* pitch, unsigned width, unsigned height,
                             unsigned element) {
  CUHEAP_SIM_TRY(NeedPointers(out, pitch));
  if (element != 4 && element != 8 && element != 16) return CUDA_ERROR_INVALID_VALUE;
  const std::uint64_t row = (std::uint64_t{width} + 511) / 512 * 512;
  if (row * height > kMost) return CUDA_ERROR_OUT_OF_MEMORY;
  CUHEAP_SIM_TRY(MemAlloc(out, static_cast<unsigned>(row * height)));
  *pitch = static_cast<unsigned>(row);
  return CUDA_SUCCESS;
}

CUresult face::MemFree(CUdeviceptr_v1 address) { return MemFree_v2(address); }

CUresult face::MemGetAddressRange(CUdeviceptr_v1* base, unsigned* bytes, CUdeviceptr_v1 address) {
  CUdeviceptr start = 0;
  size_t size = 0;
  CUHEAP_SIM_TRY(MemGetAddressRange_v2(&start, &size, address));
  WriteIfAsked(base, static_cast<CUdeviceptr_v1>(start));  // below an address of 32 bits
  WriteIfAsked(bytes, Cut(size));
  return CUDA_SUCCESS;
}

CUresult face::MemAllocHost(void** out, unsigned bytes) { return MemAllocHost_v2(out, bytes); }

CUresult face::MemHostRegister(void* memory, size_t bytes, unsigned flags) {
  return MemHostRegister_v2(memory, bytes, flags);
}

CUresult face::MemHostGetDevicePointer(CUdeviceptr_v1* out, void* memory, unsigned flags) {
  CUHEAP_SIM_TRY(NeedPointers(out));
  CUdeviceptr address = 0;
  CUHEAP_SIM_TRY(MemHostGetDevicePointer_v2(&address, memory, flags));
  return Narrow(address, out);
}

CUresult face::ModuleGetGlobal(CUdeviceptr_v1* out, unsigned* bytes, CUmodule module,
                               const char* name) {
  CUdeviceptr address = 0;
  size_t size = 0;
  CUHEAP_SIM_TRY(ModuleGetGlobal_v2(&address, &size, module, name));
  if (out != nullptr) CUHEAP_SIM_TRY(Narrow(address, out));
  WriteIfAsked(bytes, Cut(size));
  return CUDA_SUCCESS;
}

CUresult face::MemsetD8(CUdeviceptr_v1 to, unsigned char value, unsigned count) {
  return MemsetD8_v2(to, value, count);
}
CUresult face::MemsetD16(CUdeviceptr_v1 to, unsigned short value, unsigned count) {
  return MemsetD16_v2(to, value, count);
}
CUresult face::MemsetD32(CUdeviceptr_v1 to, unsigned value, unsigned count) {
  return MemsetD32_v2(to, value, count);
}
CUresult face::MemsetD2D8(CUdeviceptr_v1 to, unsigned pitch, unsigned char value, unsigned width,
                          unsigned height) {
  return MemsetD2D8_v2(to, pitch, value, width, height);
}
CUresult face::MemsetD2D16(CUdeviceptr_v1 to, unsigned pitch, unsigned short value, unsigned width,
                           unsigned height) {
  return MemsetD2D16_v2(to, pitch, value, width, height);
}
CUresult face::MemsetD2D32(CUdeviceptr_v1 to, unsigned pitch, unsigned value, unsigned width,
                           unsigned height) {
  return MemsetD2D32_v2(to, pitch, value, width, height);
}

}  // namespace cuheap::sim
