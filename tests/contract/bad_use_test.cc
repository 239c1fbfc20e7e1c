// Misuse that the documentation names: the code, and that nothing else changes. What it leaves open
// is in facts.def.
#include <cstdint>

#include "tests/contract/contract.h"

namespace cuheap::contract {

template <class Face>
class BadUse : public Contract<Face> {
 protected:
  void SetUp() override {
    Contract<Face>::SetUp();
    if (!this->IsSkipped()) free_before_ = this->FreeMemory();
  }
  void TearDown() override {
    if (!this->IsSkipped()) {
      EXPECT_EQ(free_before_, this->FreeMemory()) << "memory was lost";
    }
    Contract<Face>::TearDown();
  }
  std::size_t free_before_ = 0;
};
TYPED_TEST_SUITE(BadUse, Faces, NameOfFace);

TYPED_TEST(BadUse, OfSizesThatNoDeviceHas) {
  for (const std::size_t bytes :
       {SIZE_MAX, SIZE_MAX - 1, SIZE_MAX - 511, SIZE_MAX / 2, std::size_t{1} << 48}) {
    void* out = kPreset;
    const Code code = TypeParam::Malloc(&out, bytes);
    EXPECT_TRUE(code == CUDA_ERROR_OUT_OF_MEMORY || code == CUDA_ERROR_INVALID_VALUE)
        << NameOf(code) << " for " << bytes;
    EXPECT_EQ(kPreset, out);
  }
}

TYPED_TEST(BadUse, OfSizesThatNoPoolHas) {
  CUstream const stream = this->NewStream();
  for (const std::size_t bytes : {SIZE_MAX, SIZE_MAX - 511, std::size_t{1} << 48}) {
    void* out = kPreset;
    const Code code = TypeParam::MallocAsync(&out, bytes, stream);
    EXPECT_TRUE(code == CUDA_ERROR_OUT_OF_MEMORY || code == CUDA_ERROR_INVALID_VALUE)
        << NameOf(code) << " for " << bytes;
    EXPECT_EQ(kPreset, out);
  }
  EXPECT_OK(TypeParam::StreamDestroy(stream));
}

TYPED_TEST(BadUse, OfNullOutputs) {
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, TypeParam::Malloc(nullptr, 512));
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, TypeParam::MallocHost(nullptr, 512));
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, TypeParam::StreamCreate(nullptr, 0));
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, TypeParam::EventCreate(nullptr, 0));
}

TYPED_TEST(BadUse, OfFlagsThatDoNotExist) {
  CUstream stream = nullptr;
  CUevent event = nullptr;
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, TypeParam::StreamCreate(&stream, 0x80));
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, TypeParam::EventCreate(&event, 0x80));
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, TypeParam::EventCreate(&event, CU_EVENT_INTERPROCESS))
      << "needs DISABLE_TIMING";
}

TYPED_TEST(BadUse, OfHostMemoryOfNobody) {
  alignas(4096) static char mine[4096];
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, TypeParam::FreeHost(mine));
  void* out = kPreset;
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, TypeParam::HostGetDevicePointer(&out, mine));
}

TYPED_TEST(BadUse, OfAnIpcHandleInItsOwnProcess) {
  void* const memory = this->Malloc(4 * kMiB);
  CUipcMemHandle handle{};
  ASSERT_OK(TypeParam::IpcGetMemHandle(&handle, memory));
  void* out = kPreset;
  EXPECT_FALSE(TypeParam::IpcOpenMemHandle(&out, handle).ok());
  EXPECT_EQ(kPreset, out);
  EXPECT_FALSE(TypeParam::IpcCloseMemHandle(memory).ok());
  EXPECT_OK(TypeParam::Free(memory));
}

}  // namespace cuheap::contract
