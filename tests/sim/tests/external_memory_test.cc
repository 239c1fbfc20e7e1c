#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <vector>

#include "tests/sim/tests/arrays.h"

namespace cuheap::sim {
namespace {

class ExternalMemoryTest : public WithArrays {
 protected:
  static constexpr std::size_t kBytes = 64U << 10;

  void SetUp() override {
    WithArrays::SetUp();
    file_ = memfd_create("memory", MFD_CLOEXEC);
    ASSERT_EQ(0, ftruncate(file_, kBytes));
    shown_ = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_SHARED, file_, 0);
    ASSERT_NE(MAP_FAILED, shown_);
  }
  void TearDown() override {
    munmap(shown_, kBytes);
    WithArrays::TearDown();
  }
  static CUDA_EXTERNAL_MEMORY_HANDLE_DESC Describe(int file, std::size_t bytes) {
    CUDA_EXTERNAL_MEMORY_HANDLE_DESC description{};
    description.type = CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD;
    description.handle.fd = file;
    description.size = bytes;
    return description;
  }
  CUexternalMemory Import() {
    const auto description = Describe(file_, kBytes);
    CUexternalMemory memory = nullptr;
    EXPECT_CUDA(cuImportExternalMemory(&memory, &description));
    return memory;
  }

  int file_ = -1;
  void* shown_ = nullptr;
};

TEST_F(ExternalMemoryTest, ABufferShowsTheBytesUntilItIsFreed) {
  const std::size_t used = UsedByDriver();
  const CUexternalMemory memory = Import();
  CUDA_EXTERNAL_MEMORY_BUFFER_DESC buffer{};
  buffer.offset = 4096 + 256;
  buffer.size = 1000;
  CUdeviceptr address = 0;
  ASSERT_CUDA(cuExternalMemoryGetMappedBuffer(&address, memory, &buffer));
  EXPECT_CUDA(cuDestroyExternalMemory(memory));
  EXPECT_EQ(CUDA_ERROR_INVALID_HANDLE, cuDestroyExternalMemory(memory));
  EXPECT_EQ(-1, fcntl(file_, F_GETFD)) << "the import owned the descriptor";
  ASSERT_CUDA(cuMemsetD8(address, 0x5A, 1000));
  ASSERT_CUDA(cuCtxSynchronize());
  const auto* bytes = static_cast<const unsigned char*>(shown_);
  EXPECT_EQ(0, bytes[4096 + 255]);
  EXPECT_EQ(0x5A, bytes[4096 + 256]);
  EXPECT_EQ(0x5A, bytes[4096 + 256 + 999]);
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemsetD8(address, 0, 1001));
  EXPECT_EQ(used, UsedByDriver());
  EXPECT_CUDA(cuMemFree(address));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemFree(address));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemsetD8(address, 1, 1));
  unsigned type = 0;
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE,
            cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, address));
}

TEST_F(ExternalMemoryTest, ArraysLieInItUntilTheyAreDestroyed) {
  const CUexternalMemory memory = Import();
  CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC description{};
  description.offset = 4096;
  description.arrayDesc = Floats(32, 16);
  description.numLevels = 2;
  CUmipmappedArray mipmap = nullptr;
  ASSERT_CUDA(cuExternalMemoryGetMappedMipmappedArray(&mipmap, memory, &description));
  CUarray level = nullptr;
  ASSERT_CUDA(cuMipmappedArrayGetLevel(&level, mipmap, 0));
  std::vector<std::uint32_t> in(32 * 16, 9);
  const CUDA_MEMCPY3D up = Upload(in.data(), level, 128, 16, 1);
  ASSERT_CUDA(cuMemcpy3D(&up));
  EXPECT_EQ(9U, *reinterpret_cast<std::uint32_t*>(static_cast<char*>(shown_) + 4096));
  description.arrayDesc = Floats(1024, 1024);
  CUmipmappedArray none = nullptr;
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE,
            cuExternalMemoryGetMappedMipmappedArray(&none, memory, &description));
  EXPECT_EQ(nullptr, none);
  EXPECT_CUDA(cuDestroyExternalMemory(memory));
  EXPECT_CUDA(cuMipmappedArrayDestroy(mipmap));
}

TEST_F(ExternalMemoryTest, WhatIsNoMemoryIsRefusedAndStaysTheCallers) {
  CUexternalMemory memory = nullptr;
  auto description = Describe(file_, kBytes + 1);
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuImportExternalMemory(&memory, &description));
  description = Describe(file_, 0);
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuImportExternalMemory(&memory, &description));
  description = Describe(-1, 4096);
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuImportExternalMemory(&memory, &description));
  description = Describe(file_, kBytes);
  description.flags = 2;
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuImportExternalMemory(&memory, &description));
  description.flags = 0;
  description.type = CU_EXTERNAL_MEMORY_HANDLE_TYPE_D3D12_HEAP;
  EXPECT_EQ(CUDA_ERROR_NOT_SUPPORTED, cuImportExternalMemory(&memory, &description));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuImportExternalMemory(&memory, nullptr));
  EXPECT_EQ(nullptr, memory);
  EXPECT_EQ(FD_CLOEXEC, fcntl(file_, F_GETFD));
  memory = Import();
  CUDA_EXTERNAL_MEMORY_BUFFER_DESC buffer{};
  CUdeviceptr address = 3;
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuExternalMemoryGetMappedBuffer(&address, memory, &buffer));
  buffer.offset = kBytes - 8;
  buffer.size = 16;
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuExternalMemoryGetMappedBuffer(&address, memory, &buffer));
  buffer.offset = UINT64_MAX;
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuExternalMemoryGetMappedBuffer(&address, memory, &buffer));
  EXPECT_EQ(CUDA_ERROR_INVALID_HANDLE, cuExternalMemoryGetMappedBuffer(&address, nullptr, &buffer));
  EXPECT_EQ(3U, address);
  EXPECT_CUDA(cuDestroyExternalMemory(memory));
}

TEST_F(ExternalMemoryTest, RangesHaveNoDescriptorsAsTheAttributeSays) {
  int supported = 1;
  ASSERT_CUDA(cuDeviceGetAttribute(&supported, CU_DEVICE_ATTRIBUTE_DMA_BUF_SUPPORTED, 0));
  EXPECT_EQ(0, supported);
  const CUdeviceptr block = Alloc(2 * kMiB);
  int fd = 44;
  const auto handle_of = [&](CUdeviceptr base, std::size_t bytes, unsigned long long flags = 0) {
    return cuMemGetHandleForAddressRange(&fd, base, bytes, CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD,
                                         flags);
  };
  EXPECT_EQ(CUDA_ERROR_NOT_SUPPORTED, handle_of(block, 2 * kMiB));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, handle_of(block + 512, 4096));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, handle_of(block, 4095));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, handle_of(block, 0));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, handle_of(block, 4 * kMiB));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, handle_of(block, 4096, 8));
  EXPECT_EQ(44, fd);
  EXPECT_CUDA(cuMemFree(block));
}

}  // namespace
}  // namespace cuheap::sim
