// Pinned and registered host memory.
#include <sys/mman.h>

#include <vector>

#include "tests/sim/tests/machine.h"

namespace cuheap::sim {
namespace {

class HostMemoryTest : public Machine {
 protected:
  void TearDown() override {
    EXPECT_EQ(0U, cuheap_sim_pinned());
    Machine::TearDown();
  }

  std::vector<char> own_ = std::vector<char>(16 * 4096);
};

TEST_F(HostMemoryTest, AllocationsAreValidated) {
  void* memory = &own_;
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemHostAlloc(&memory, 0, 0));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemHostAlloc(&memory, 1, 8));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemHostAlloc(nullptr, 1, 0));
  EXPECT_EQ(CUDA_ERROR_OUT_OF_MEMORY, cuMemHostAlloc(&memory, SIZE_MAX, 0));
  EXPECT_EQ(CUDA_ERROR_OUT_OF_MEMORY, cuMemHostAlloc(&memory, SIZE_MAX - 4096, 0));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemAllocHost(&memory, 0));
  EXPECT_EQ(&own_, memory);
}

TEST_F(HostMemoryTest, FlagsOfAllocationsAreKept) {
  void* memory = nullptr;
  ASSERT_CUDA(cuMemHostAlloc(&memory, 4096, CU_MEMHOSTALLOC_PORTABLE));
  unsigned flags = 0;
  ASSERT_CUDA(cuMemHostGetFlags(&flags, static_cast<char*>(memory) + 100));
  EXPECT_EQ(unsigned{CU_MEMHOSTALLOC_PORTABLE}, flags);
  CUdeviceptr device = 0;
  ASSERT_CUDA(cuMemHostGetDevicePointer(&device, static_cast<char*>(memory) + 8, 0));
  EXPECT_EQ(reinterpret_cast<CUdeviceptr>(memory) + 8, device);
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemHostGetDevicePointer(&device, memory, 1));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemFreeHost(static_cast<char*>(memory) + 8));
  EXPECT_CUDA(cuMemFreeHost(memory));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemFreeHost(memory));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemHostGetFlags(&flags, memory));
}

TEST_F(HostMemoryTest, DevicesSeeWriteCombinedMemoryElsewhere) {
  void* memory = nullptr;
  ASSERT_CUDA(cuMemHostAlloc(&memory, 4096, CU_MEMHOSTALLOC_WRITECOMBINED));
  auto* const bytes = static_cast<unsigned char*>(memory);
  const auto host = reinterpret_cast<CUdeviceptr>(memory);
  CUdeviceptr view = 0;
  ASSERT_CUDA(cuMemHostGetDevicePointer(&view, bytes + 8, 0));
  EXPECT_TRUE(view + 4096 <= host + 8 || view >= host + 4096);
  ASSERT_CUDA(cuMemsetD8(view, 9, 1));
  EXPECT_EQ(9, bytes[8]);
  bytes[8] = 10;
  unsigned char seen = 0;
  ASSERT_CUDA(cuMemcpyDtoH(&seen, view, 1));
  EXPECT_EQ(10, seen);
  CUdeviceptr pointer = 0;
  EXPECT_CUDA(cuPointerGetAttribute(&pointer, CU_POINTER_ATTRIBUTE_DEVICE_POINTER, host + 8));
  EXPECT_EQ(view, pointer);
  EXPECT_CUDA(cuPointerGetAttribute(&pointer, CU_POINTER_ATTRIBUTE_HOST_POINTER, view));
  EXPECT_EQ(host + 8, pointer);
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemFreeHost(reinterpret_cast<void*>(view - 8)));
  EXPECT_CUDA(cuMemFreeHost(memory));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE,
            cuPointerGetAttribute(&pointer, CU_POINTER_ATTRIBUTE_DEVICE_POINTER, view));
}

TEST_F(HostMemoryTest, WriteCombinedMemoryGoesWithItsContext) {
  void* memory = nullptr;
  CUdeviceptr view = 0;
  ASSERT_CUDA(cuMemHostAlloc(&memory, 4096, CU_MEMHOSTALLOC_WRITECOMBINED));
  ASSERT_CUDA(cuMemHostGetDevicePointer(&view, memory, 0));
  ASSERT_CUDA(cuDevicePrimaryCtxReset(0));
  unsigned type = 0;
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE,
            cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, view));
}

TEST_F(HostMemoryTest, PinnedMemoryIsSetWhenTheCallReturns) {
  void* memory = nullptr;
  ASSERT_CUDA(cuMemAllocHost(&memory, 4096));
  const auto base = reinterpret_cast<CUdeviceptr>(memory);
  EXPECT_CUDA(cuMemsetD8(base, 5, 4096));
  EXPECT_EQ(5, static_cast<char*>(memory)[4095]);
  EXPECT_CUDA(cuMemsetD2D8(base, 64, 6, 32, 2));
  EXPECT_EQ(6, static_cast<char*>(memory)[64]);
  EXPECT_CUDA(cuMemFreeHost(memory));
}

TEST_F(HostMemoryTest, ReadOnlyMemoryIsRegisteredAsSuchOnly) {
  void* memory = mmap(nullptr, 8192, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(MAP_FAILED, memory);
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemHostRegister(memory, 8192, 0));
  EXPECT_CUDA(cuMemHostRegister(memory, 8192, CU_MEMHOSTREGISTER_READ_ONLY));
  EXPECT_CUDA(cuMemHostUnregister(memory));
  ASSERT_EQ(0, munmap(memory, 8192));
}

TEST_F(HostMemoryTest, TokensMakeOperationsSynchronous) {
  const CUdeviceptr block = Alloc(4096);
  CUDA_POINTER_ATTRIBUTE_P2P_TOKENS tokens{};
  EXPECT_CUDA(cuPointerGetAttribute(&tokens, CU_POINTER_ATTRIBUTE_P2P_TOKENS, block));
  EXPECT_NE(0U, tokens.p2pToken);
  unsigned on = 0;
  EXPECT_CUDA(cuPointerGetAttribute(&on, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, block));
  EXPECT_EQ(1U, on);
  EXPECT_CUDA(cuMemFree(block));
}

TEST_F(HostMemoryTest, RegistrationIsValidated) {
  constexpr auto kRefused = CUDA_ERROR_INVALID_VALUE;
  EXPECT_EQ(kRefused, cuMemHostRegister(own_.data(), 0, 0));
  EXPECT_EQ(kRefused, cuMemHostRegister(nullptr, 4096, 0));
  EXPECT_EQ(kRefused, cuMemHostRegister(own_.data(), 4096, 16));
  EXPECT_EQ(kRefused, cuMemHostRegister(own_.data(), SIZE_MAX, 0));
  EXPECT_EQ(kRefused, cuMemHostRegister(own_.data(), SIZE_MAX / 2, 0));
  EXPECT_EQ(CUDA_ERROR_NOT_SUPPORTED,
            cuMemHostRegister(own_.data(), 4096, CU_MEMHOSTREGISTER_IOMEMORY));
  const CUdeviceptr block = Alloc(4096);
  EXPECT_EQ(kRefused, cuMemHostRegister(reinterpret_cast<void*>(block), 4096, 0));
  EXPECT_CUDA(cuMemFree(block));
}

TEST_F(HostMemoryTest, OnlyMappedMemoryIsRegistered) {
  void* memory = mmap(nullptr, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(MAP_FAILED, memory);
  ASSERT_EQ(0, munmap(static_cast<char*>(memory) + 4096, 4096));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemHostRegister(memory, 8192, 0));
  EXPECT_CUDA(cuMemHostRegister(memory, 4096, 0));
  EXPECT_CUDA(cuMemHostUnregister(memory));
  ASSERT_EQ(0, munmap(memory, 4096));
}

TEST_F(HostMemoryTest, CopiesOfNothingAreRefused) {
  void* memory = mmap(nullptr, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(MAP_FAILED, memory);
  ASSERT_EQ(0, munmap(static_cast<char*>(memory) + 4096, 4096));
  const CUdeviceptr block = Alloc(8192);
  EXPECT_CUDA(cuMemcpyHtoD(block, memory, 4096));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemcpyHtoD(block, memory, 4097));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemcpyDtoH(memory, block, 8192));
  EXPECT_CUDA(cuMemFree(block));
  ASSERT_EQ(0, munmap(memory, 4096));
}

TEST_F(HostMemoryTest, EveryFlagIsTakenWithEveryOther) {
  constexpr unsigned kAll =
      CU_MEMHOSTREGISTER_DEVICEMAP | CU_MEMHOSTREGISTER_READ_ONLY | CU_MEMHOSTREGISTER_PORTABLE;
  for (unsigned flags = 0; flags <= kAll; ++flags) {
    if ((flags & ~kAll) != 0) continue;
    ASSERT_CUDA(cuMemHostRegister(own_.data(), own_.size(), flags));
    CUdeviceptr device = 0;
    ASSERT_CUDA(cuMemHostGetDevicePointer(&device, own_.data() + 17, 0));
    EXPECT_EQ(reinterpret_cast<CUdeviceptr>(own_.data()) + 17, device);
    EXPECT_CUDA(cuMemHostUnregister(own_.data()));
  }
}

TEST_F(HostMemoryTest, OverlappingRegistrationsAreRefused) {
  char* const middle = own_.data() + 4 * 4096;
  ASSERT_CUDA(cuMemHostRegister(middle, 4 * 4096, 0));
  constexpr auto kAlready = CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED;
  EXPECT_EQ(kAlready, cuMemHostRegister(middle, 4 * 4096, 0));
  EXPECT_EQ(kAlready, cuMemHostRegister(own_.data(), own_.size(), 0));
  EXPECT_EQ(kAlready, cuMemHostRegister(middle + 100, 10, 0));
  EXPECT_EQ(kAlready, cuMemHostRegister(middle - 100, 101, 0));
  EXPECT_CUDA(cuMemHostRegister(own_.data(), 4096, 0));
  EXPECT_CUDA(cuMemHostUnregister(own_.data()));
  EXPECT_CUDA(cuMemHostUnregister(middle));
  void* pinned = nullptr;
  ASSERT_CUDA(cuMemAllocHost(&pinned, 4096));
  EXPECT_EQ(kAlready, cuMemHostRegister(pinned, 4096, 0));
  EXPECT_CUDA(cuMemFreeHost(pinned));
}

TEST_F(HostMemoryTest, OnlyTheRegisteredAddressUnregisters) {
  constexpr auto kNot = CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED;
  EXPECT_EQ(kNot, cuMemHostUnregister(own_.data()));
  ASSERT_CUDA(cuMemHostRegister(own_.data(), own_.size(), 0));
  EXPECT_EQ(kNot, cuMemHostUnregister(own_.data() + 4096));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemHostUnregister(nullptr));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemFreeHost(own_.data()));
  EXPECT_CUDA(cuMemHostUnregister(own_.data()));
  EXPECT_EQ(kNot, cuMemHostUnregister(own_.data()));
}

TEST_F(HostMemoryTest, PointersOfRegisteredMemoryAreKnown) {
  ASSERT_CUDA(cuMemHostRegister(own_.data(), own_.size(), 0));
  const auto address = reinterpret_cast<CUdeviceptr>(own_.data()) + 40;
  unsigned type = 0;
  void* host = nullptr;
  CUcontext context = nullptr;
  CUpointer_attribute wanted[] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
                                  CU_POINTER_ATTRIBUTE_HOST_POINTER, CU_POINTER_ATTRIBUTE_CONTEXT};
  void* out[] = {&type, &host, &context};
  ASSERT_CUDA(cuPointerGetAttributes(3, wanted, out, address));
  EXPECT_EQ(static_cast<unsigned>(CU_MEMORYTYPE_HOST), type);
  EXPECT_EQ(own_.data() + 40, host);
  EXPECT_EQ(context_, context);
  EXPECT_CUDA(cuMemHostUnregister(own_.data()));
  ASSERT_CUDA(cuPointerGetAttributes(3, wanted, out, address));
  EXPECT_EQ(0U, type);
  EXPECT_EQ(nullptr, host);
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE,
            cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, address));
}

TEST_F(HostMemoryTest, QuestionsAboutPointersAreValidated) {
  const CUdeviceptr block = Alloc(4096);
  unsigned value = 7;
  void* out[] = {&value, nullptr};
  CUpointer_attribute wanted[] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_MAPPED};
  constexpr auto kRefused = CUDA_ERROR_INVALID_VALUE;
  EXPECT_EQ(kRefused, cuPointerGetAttributes(0, wanted, out, block));
  EXPECT_EQ(kRefused, cuPointerGetAttributes(2, wanted, out, block));
  EXPECT_EQ(kRefused, cuPointerGetAttributes(1, nullptr, out, block));
  EXPECT_EQ(kRefused, cuPointerGetAttribute(&value, static_cast<CUpointer_attribute>(31), block));
  EXPECT_EQ(kRefused, cuPointerGetAttribute(&value, CU_POINTER_ATTRIBUTE_HOST_POINTER, block));
  EXPECT_EQ(kRefused, cuPointerSetAttribute(&value, CU_POINTER_ATTRIBUTE_MAPPED, block));
  EXPECT_EQ(kRefused, cuPointerSetAttribute(&value, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, 64));
  EXPECT_EQ(7U, value);
  ASSERT_CUDA(cuCtxSetCurrent(nullptr));
  CUdeviceptr pointer = 0;
  EXPECT_EQ(CUDA_ERROR_INVALID_CONTEXT,
            cuPointerGetAttribute(&pointer, CU_POINTER_ATTRIBUTE_DEVICE_POINTER, block));
  ASSERT_CUDA(cuCtxSetCurrent(context_));
  EXPECT_CUDA(cuMemFree(block));
}

}  // namespace
}  // namespace cuheap::sim
