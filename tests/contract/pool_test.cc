// Stream-ordered memory and its pools.
#include <cstdint>

#include "tests/contract/contract.h"

namespace cuheap::contract {

template <class Face>
class StreamOrdered : public Contract<Face> {
 protected:
  static std::uint64_t Attribute(CUmemoryPool pool, CUmemPool_attribute attribute) {
    std::uint64_t value = 0;
    EXPECT_OK(Face::PoolGet(pool, attribute, &value));
    return value;
  }
  static CUmemoryPool NewPool() {
    CUmemoryPool pool = nullptr;
    EXPECT_OK(Face::PoolCreate(&pool, 0));
    return pool;
  }
};
TYPED_TEST_SUITE(StreamOrdered, Faces, NameOfFace);

TYPED_TEST(StreamOrdered, MemoryIsCountedAsUsedUntilItsFreeIsDone) {
  CUmemoryPool const pool = this->NewPool();
  CUstream const stream = this->NewStream();
  void* memory = nullptr;
  ASSERT_OK(TypeParam::MallocFromPool(&memory, kMiB, pool, stream));
  EXPECT_OK(TypeParam::StreamSynchronize(stream));
  EXPECT_GE(this->Attribute(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT), kMiB);
  EXPECT_GE(this->Attribute(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT), kMiB);
  EXPECT_OK(TypeParam::FreeAsync(memory, stream));
  EXPECT_OK(TypeParam::StreamSynchronize(stream));
  EXPECT_EQ(0U, this->Attribute(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT));
  EXPECT_GE(this->Attribute(pool, CU_MEMPOOL_ATTR_USED_MEM_HIGH), kMiB);
  EXPECT_OK(TypeParam::StreamDestroy(stream));
  EXPECT_OK(TypeParam::PoolDestroy(pool));
}

TYPED_TEST(StreamOrdered, MemoryGoesBackAtASynchronisationUpToTheThreshold) {
  CUmemoryPool const pool = this->NewPool();
  CUstream const stream = this->NewStream();
  void* memory = nullptr;
  ASSERT_OK(TypeParam::MallocFromPool(&memory, 64 * kMiB, pool, stream));
  EXPECT_OK(TypeParam::FreeAsync(memory, stream));
  EXPECT_OK(TypeParam::StreamSynchronize(stream));
  EXPECT_EQ(0U, this->Attribute(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT));
  std::uint64_t threshold = UINT64_MAX;
  EXPECT_OK(TypeParam::PoolSet(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &threshold));
  ASSERT_OK(TypeParam::MallocFromPool(&memory, 64 * kMiB, pool, stream));
  EXPECT_OK(TypeParam::FreeAsync(memory, stream));
  EXPECT_OK(TypeParam::StreamSynchronize(stream));
  EXPECT_GE(this->Attribute(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT), 64 * kMiB);
  EXPECT_OK(TypeParam::PoolTrimTo(pool, 0));
  EXPECT_EQ(0U, this->Attribute(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT));
  EXPECT_OK(TypeParam::StreamDestroy(stream));
  EXPECT_OK(TypeParam::PoolDestroy(pool));
}

TYPED_TEST(StreamOrdered, MemoryIsReusedInItsOwnStreamWithoutWaiting) {
  CUHEAP_CONTRACT_NEEDS(Gate::IsPossible(), "work that waits");
  Gate gate;
  CUmemoryPool const pool = this->NewPool();
  CUstream const stream = this->NewStream();
  void* first = nullptr;
  void* second = nullptr;
  ASSERT_OK(TypeParam::MallocFromPool(&first, kMiB, pool, stream));
  this->Queue(stream, &gate);
  EXPECT_OK(TypeParam::FreeAsync(first, stream));
  ASSERT_OK(TypeParam::MallocFromPool(&second, kMiB, pool, stream));
  EXPECT_EQ(first, second);
  gate.Open();
  EXPECT_OK(TypeParam::FreeAsync(second, stream));
  EXPECT_OK(TypeParam::StreamSynchronize(stream));
  EXPECT_OK(TypeParam::StreamDestroy(stream));
  EXPECT_OK(TypeParam::PoolDestroy(pool));
}

TYPED_TEST(StreamOrdered, MemoryIsNotReusedElsewhereWhileItsFreeIsQueued) {
  CUHEAP_CONTRACT_NEEDS(Gate::IsPossible(), "work that waits");
  Gate gate;
  CUmemoryPool const pool = this->NewPool();
  int no = 0;
  EXPECT_OK(TypeParam::PoolSet(pool, CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES, &no));
  CUstream const stream = this->NewStream();
  CUstream const other = this->NewStream();
  void* first = nullptr;
  void* second = nullptr;
  ASSERT_OK(TypeParam::MallocFromPool(&first, kMiB, pool, stream));
  this->Queue(stream, &gate);
  EXPECT_OK(TypeParam::FreeAsync(first, stream));
  ASSERT_OK(TypeParam::MallocFromPool(&second, kMiB, pool, other));
  EXPECT_NE(first, second);
  gate.Open();
  EXPECT_OK(TypeParam::FreeAsync(second, other));
  EXPECT_OK(TypeParam::Synchronize());
  EXPECT_OK(TypeParam::StreamDestroy(stream));
  EXPECT_OK(TypeParam::StreamDestroy(other));
  EXPECT_OK(TypeParam::PoolDestroy(pool));
}

TYPED_TEST(StreamOrdered, HighMarksAreResetToZeroOnly) {
  CUmemoryPool const pool = this->NewPool();
  std::uint64_t one = 1;
  std::uint64_t zero = 0;
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE,
              TypeParam::PoolSet(pool, CU_MEMPOOL_ATTR_USED_MEM_HIGH, &one));
  EXPECT_OK(TypeParam::PoolSet(pool, CU_MEMPOOL_ATTR_USED_MEM_HIGH, &zero));
  EXPECT_OK(TypeParam::PoolDestroy(pool));
}

TYPED_TEST(StreamOrdered, MemoryOfTheDefaultPoolMayBeFreedWithoutAStream) {
  CUstream const stream = this->NewStream();
  void* memory = nullptr;
  ASSERT_OK(TypeParam::MallocAsync(&memory, kMiB, stream));
  EXPECT_OK(TypeParam::StreamSynchronize(stream));
  EXPECT_OK(TypeParam::Free(memory));
  EXPECT_OK(TypeParam::StreamDestroy(stream));
}

}  // namespace cuheap::contract
