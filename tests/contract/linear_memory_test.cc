// Linear, host and managed memory.
#include <cstdint>
#include <cstdlib>

#include "tests/contract/contract.h"

namespace cuheap::contract {

template <class Face>
class LinearMemory : public Contract<Face> {};
TYPED_TEST_SUITE(LinearMemory, Faces, NameOfFace);

TYPED_TEST(LinearMemory, IsAlignedTo256Bytes) {
  std::vector<void*> blocks;
  for (const std::size_t bytes : {1UL, 2UL, 255UL, 257UL, 4095UL, kMiB + 1}) {
    blocks.push_back(this->Malloc(bytes));
    EXPECT_EQ(0U, reinterpret_cast<std::uintptr_t>(blocks.back()) % 256) << bytes;
  }
  for (void* block : blocks) EXPECT_OK(TypeParam::Free(block));
}

TYPED_TEST(LinearMemory, KeepsWhatWasWritten) {
  void* const memory = this->Malloc(4096);
  CUstream const stream = this->NewStream();
  EXPECT_OK(TypeParam::MemsetAsync(memory, 0x5a, 4096, stream));
  EXPECT_EQ(std::vector<unsigned char>(4096, 0x5a), this->Bytes(memory, 4096, stream));
  EXPECT_OK(TypeParam::StreamDestroy(stream));
  EXPECT_OK(TypeParam::Free(memory));
}

TYPED_TEST(LinearMemory, LeavesAndComesBackInTheFreeFigure) {
  const std::size_t before = this->FreeMemory();
  void* const memory = this->Malloc(64 * kMiB);
  EXPECT_LE(this->FreeMemory(), before - 64 * kMiB);
  EXPECT_OK(TypeParam::Free(memory));
  EXPECT_EQ(before, this->FreeMemory());
}

TYPED_TEST(LinearMemory, RunsOutWithoutWritingTheOutput) {
  void* out = kPreset;
  EXPECT_CODE(CUDA_ERROR_OUT_OF_MEMORY, TypeParam::Malloc(&out, this->FreeMemory() + kMiB));
  EXPECT_EQ(kPreset, out);
  void* const memory = this->Malloc(kMiB);
  EXPECT_OK(TypeParam::Free(memory));
}

TYPED_TEST(LinearMemory, HasAPitchThatRowsFitInto) {
  void* memory = nullptr;
  std::size_t pitch = 0;
  ASSERT_OK(TypeParam::MallocPitch(&memory, &pitch, 1000, 16));
  EXPECT_GE(pitch, 1000U);
  EXPECT_EQ(0U, pitch % 32);
  EXPECT_OK(TypeParam::Free(memory));
}

TYPED_TEST(LinearMemory, FreesNullAsNothing) { EXPECT_OK(TypeParam::Free(nullptr)); }

TYPED_TEST(LinearMemory, KnowsItsDevice) {
  for (int device = 0; device < this->Devices(); ++device) {
    ASSERT_OK(TypeParam::UseDevice(device));
    void* const memory = this->Malloc(512);
    ASSERT_OK(TypeParam::UseDevice(0));
    int found = -1;
    EXPECT_OK(TypeParam::DeviceOf(&found, memory));
    EXPECT_EQ(device, found);
    EXPECT_OK(TypeParam::Free(memory)) << "of device " << device << " while 0 is current";
  }
}

TYPED_TEST(LinearMemory, OfTheHostIsWritableByBoth) {
  void* host = nullptr;
  ASSERT_OK(TypeParam::MallocHost(&host, 4096));
  void* const memory = this->Malloc(4096);
  CUstream const stream = this->NewStream();
  std::memset(host, 7, 4096);
  EXPECT_OK(TypeParam::MemcpyAsync(memory, host, 4096, stream));
  EXPECT_EQ(std::vector<unsigned char>(4096, 7), this->Bytes(memory, 4096, stream));
  void* seen_by_device = nullptr;
  EXPECT_OK(TypeParam::HostGetDevicePointer(&seen_by_device, host));
  EXPECT_EQ(host, seen_by_device);
  EXPECT_OK(TypeParam::StreamDestroy(stream));
  EXPECT_OK(TypeParam::Free(memory));
  EXPECT_OK(TypeParam::FreeHost(host));
}

TYPED_TEST(LinearMemory, OfTheHostIsRegisteredOnce) {
  void* const page = std::aligned_alloc(4096, 8192);
  EXPECT_OK(TypeParam::HostRegister(page, 8192));
  EXPECT_CODE(CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED, TypeParam::HostRegister(page, 8192));
  EXPECT_OK(TypeParam::HostUnregister(page));
  EXPECT_CODE(CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED, TypeParam::HostUnregister(page));
  std::free(page);
}

TYPED_TEST(LinearMemory, ThatIsManagedIsWritableByTheHost) {
  void* memory = nullptr;
  ASSERT_OK(TypeParam::MallocManaged(&memory, 4096));
  std::memset(memory, 3, 4096);
  CUstream const stream = this->NewStream();
  EXPECT_EQ(std::vector<unsigned char>(4096, 3), this->Bytes(memory, 4096, stream));
  EXPECT_OK(TypeParam::StreamDestroy(stream));
  EXPECT_OK(TypeParam::Free(memory));
}

TYPED_TEST(LinearMemory, IsCopiedBeforeASynchronousCopyReturns) {
  void* const memory = this->Malloc(512);
  unsigned char in[512];
  unsigned char out[512] = {};
  std::memset(in, 9, sizeof in);
  EXPECT_OK(TypeParam::Memcpy(memory, in, sizeof in));
  EXPECT_OK(TypeParam::Memcpy(out, memory, sizeof out));
  EXPECT_EQ(0, std::memcmp(in, out, sizeof in));
  EXPECT_OK(TypeParam::Free(memory));
}

}  // namespace cuheap::contract
