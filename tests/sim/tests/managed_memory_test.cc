// Managed memory: allocation, streams it is attached to, advice and what ranges say of it.
#include <vector>

#include "tests/sim/tests/machine.h"

namespace cuheap::sim {
namespace {

constexpr CUmemLocation kDevice{CU_MEM_LOCATION_TYPE_DEVICE, 1};
constexpr CUmemLocation kHost{CU_MEM_LOCATION_TYPE_HOST, 0};
constexpr std::size_t kBytes = 64 * 4096;

class ManagedMemoryTest : public Machine {
 protected:
  void SetUp() override {
    Machine::SetUp();
    ASSERT_CUDA(cuMemAllocManaged(&block_, kBytes, CU_MEM_ATTACH_GLOBAL));
    ASSERT_CUDA(cuStreamCreate(&stream_, CU_STREAM_NON_BLOCKING));
  }
  void TearDown() override {
    EXPECT_CUDA(cuMemFree(block_));
    Machine::TearDown();
  }

  int Get(CUmem_range_attribute attribute, std::size_t bytes = kBytes) {
    int value = 77;
    EXPECT_CUDA(cuMemRangeGetAttribute(&value, sizeof value, attribute, block_, bytes));
    return value;
  }
  CUresult Advise(CUmem_advise advice, const CUmemLocation& location, std::size_t bytes = kBytes) {
    return cuMemAdvise(block_, bytes, advice, location);
  }

  CUdeviceptr block_ = 0;
  CUstream stream_ = nullptr;
};

TEST_F(ManagedMemoryTest, FlagsAndSizesAreValidated) {
  CUdeviceptr block = 7;
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemAllocManaged(&block, 0, CU_MEM_ATTACH_GLOBAL));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemAllocManaged(&block, 1, 0));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemAllocManaged(&block, 1, CU_MEM_ATTACH_SINGLE));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemAllocManaged(&block, 1, 3));
  EXPECT_EQ(CUDA_ERROR_OUT_OF_MEMORY, cuMemAllocManaged(&block, SIZE_MAX, CU_MEM_ATTACH_HOST));
  EXPECT_EQ(7U, block);
  ASSERT_CUDA(cuMemAllocManaged(&block, 10, CU_MEM_ATTACH_HOST));
  EXPECT_CUDA(cuMemFree(block));
}

TEST_F(ManagedMemoryTest, ItIsReachedByHostAndDeviceAndChargedToNone) {
  const std::size_t used = UsedByDriver();
  *reinterpret_cast<volatile int*>(block_) = 5;
  int value = 0;
  ASSERT_CUDA(cuMemcpyDtoH(&value, block_, sizeof value));
  EXPECT_EQ(5, value);
  EXPECT_EQ(used, UsedByDriver());
  unsigned managed = 0;
  ASSERT_CUDA(cuPointerGetAttribute(&managed, CU_POINTER_ATTRIBUTE_IS_MANAGED, block_));
  EXPECT_EQ(1U, managed);
}

TEST_F(ManagedMemoryTest, WholeAllocationsAreAttachedToStreams) {
  for (const unsigned flags : {CU_MEM_ATTACH_GLOBAL, CU_MEM_ATTACH_HOST, CU_MEM_ATTACH_SINGLE}) {
    EXPECT_CUDA(cuStreamAttachMemAsync(stream_, block_, 0, flags));
    EXPECT_CUDA(cuStreamAttachMemAsync(stream_, block_, kBytes, flags));
  }
  constexpr auto kRefused = CUDA_ERROR_INVALID_VALUE;
  EXPECT_EQ(kRefused, cuStreamAttachMemAsync(stream_, block_, 4096, CU_MEM_ATTACH_GLOBAL));
  EXPECT_EQ(kRefused, cuStreamAttachMemAsync(stream_, block_ + 4096, 0, CU_MEM_ATTACH_GLOBAL));
  EXPECT_EQ(kRefused, cuStreamAttachMemAsync(stream_, block_, 0, 0));
  EXPECT_EQ(kRefused, cuStreamAttachMemAsync(stream_, block_, 0, 3));
  EXPECT_EQ(kRefused, cuStreamAttachMemAsync(nullptr, block_, 0, CU_MEM_ATTACH_SINGLE));
  const CUdeviceptr linear = Alloc(kBytes);
  EXPECT_EQ(kRefused, cuStreamAttachMemAsync(stream_, linear, 0, CU_MEM_ATTACH_GLOBAL));
  EXPECT_CUDA(cuMemFree(linear));
}

TEST_F(ManagedMemoryTest, AdviceIsRememberedAndUndone) {
  EXPECT_EQ(0, Get(CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY));
  EXPECT_EQ(CU_DEVICE_INVALID, Get(CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION));
  ASSERT_CUDA(Advise(CU_MEM_ADVISE_SET_READ_MOSTLY, {}));
  ASSERT_CUDA(Advise(CU_MEM_ADVISE_SET_PREFERRED_LOCATION, kDevice));
  EXPECT_EQ(1, Get(CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY));
  EXPECT_EQ(1, Get(CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION));
  EXPECT_EQ(CU_MEM_LOCATION_TYPE_DEVICE, Get(CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_TYPE));
  EXPECT_EQ(1, Get(CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_ID));
  ASSERT_CUDA(Advise(CU_MEM_ADVISE_SET_PREFERRED_LOCATION, kHost));
  EXPECT_EQ(CU_DEVICE_CPU, Get(CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION));
  ASSERT_CUDA(Advise(CU_MEM_ADVISE_UNSET_READ_MOSTLY, {}));
  ASSERT_CUDA(Advise(CU_MEM_ADVISE_UNSET_PREFERRED_LOCATION, {}));
  EXPECT_EQ(0, Get(CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY));
  EXPECT_EQ(CU_MEM_LOCATION_TYPE_INVALID, Get(CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_TYPE));
}

TEST_F(ManagedMemoryTest, ARangeAnswersForAllOfItsPages) {
  ASSERT_CUDA(Advise(CU_MEM_ADVISE_SET_READ_MOSTLY, {}, 4097));  // two pages
  ASSERT_CUDA(Advise(CU_MEM_ADVISE_SET_PREFERRED_LOCATION, kDevice, 8192));
  EXPECT_EQ(1, Get(CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, 8192));
  EXPECT_EQ(0, Get(CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, 8193));
  EXPECT_EQ(1, Get(CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION, 8192));
  EXPECT_EQ(CU_DEVICE_INVALID, Get(CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION, 8193));
}

TEST_F(ManagedMemoryTest, TheOldAttributesTellNoNodesOfTheHostApart) {
  ASSERT_CUDA(Advise(CU_MEM_ADVISE_SET_PREFERRED_LOCATION, {CU_MEM_LOCATION_TYPE_HOST, 0}, 8192));
  ASSERT_CUDA(
      Advise(CU_MEM_ADVISE_SET_PREFERRED_LOCATION, {CU_MEM_LOCATION_TYPE_HOST_NUMA, 0}, 4096));
  EXPECT_EQ(CU_DEVICE_CPU, Get(CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION, 8192));
  EXPECT_EQ(CU_MEM_LOCATION_TYPE_INVALID,
            Get(CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_TYPE, 8192));
}

TEST_F(ManagedMemoryTest, AccessorsAreListed) {
  ASSERT_CUDA(Advise(CU_MEM_ADVISE_SET_ACCESSED_BY, {CU_MEM_LOCATION_TYPE_DEVICE, 0}));
  ASSERT_CUDA(Advise(CU_MEM_ADVISE_SET_ACCESSED_BY, kDevice, 4096));
  int found[3] = {};
  constexpr auto kAccessors = CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY;
  ASSERT_CUDA(cuMemRangeGetAttribute(found, sizeof found, kAccessors, block_, 4096));
  EXPECT_EQ(0, found[0]);
  EXPECT_EQ(1, found[1]);
  EXPECT_EQ(CU_DEVICE_INVALID, found[2]);
  ASSERT_CUDA(cuMemRangeGetAttribute(found, sizeof found, kAccessors, block_, kBytes));
  EXPECT_EQ(0, found[0]);
  EXPECT_EQ(CU_DEVICE_INVALID, found[1]);
  ASSERT_CUDA(Advise(CU_MEM_ADVISE_UNSET_ACCESSED_BY, {CU_MEM_LOCATION_TYPE_DEVICE, 0}));
  ASSERT_CUDA(cuMemRangeGetAttribute(found, 4, kAccessors, block_, 4096));
  EXPECT_EQ(1, found[0]);
}

TEST_F(ManagedMemoryTest, MisusedAdviceIsRefused) {
  constexpr auto kPrefer = CU_MEM_ADVISE_SET_PREFERRED_LOCATION;
  EXPECT_EQ(CUDA_ERROR_INVALID_DEVICE, Advise(kPrefer, {CU_MEM_LOCATION_TYPE_DEVICE, 9}));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, Advise(kPrefer, {CU_MEM_LOCATION_TYPE_HOST_NUMA, 3}));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, Advise(kPrefer, {}));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE,
            Advise(CU_MEM_ADVISE_SET_ACCESSED_BY, {CU_MEM_LOCATION_TYPE_HOST_NUMA, 0}));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, Advise(kPrefer, kHost, 0));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, Advise(kPrefer, kHost, kBytes + 1));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, Advise(kPrefer, kHost, SIZE_MAX));
  int value = 0;
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE,
            cuMemRangeGetAttribute(&value, 8, CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, block_, 1));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE,
            cuMemRangeGetAttribute(&value, 0, CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY, block_, 1));
  const CUdeviceptr linear = Alloc(4096);
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemAdvise(linear, 4096, kPrefer, kHost));
  EXPECT_CUDA(cuMemFree(linear));
}

TEST_F(ManagedMemoryTest, PrefetchesAreRemembered) {
  EXPECT_EQ(CU_DEVICE_INVALID, Get(CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION));
  ASSERT_CUDA(cuMemPrefetchAsync(block_, kBytes, kDevice, 0, stream_));
  EXPECT_EQ(1, Get(CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemPrefetchAsync(block_, kBytes, kDevice, 1, stream_));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemPrefetchAsync(block_, kBytes, {}, 0, stream_));
  EXPECT_EQ(CUDA_ERROR_INVALID_DEVICE,
            cuMemPrefetchAsync(block_, 1, {CU_MEM_LOCATION_TYPE_DEVICE, 5}, 0, stream_));
  EXPECT_EQ(1, Get(CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION));
}

TEST_F(ManagedMemoryTest, ABatchPrefetchesEachPartToItsPlace) {
  CUdeviceptr parts[] = {block_, block_ + 4096, block_ + 8192};
  std::size_t sizes[] = {4096, 4096, 4096};
  CUmemLocation places[] = {kHost, kDevice};
  std::size_t firsts[] = {0, 1};
  ASSERT_CUDA(cuMemDiscardAndPrefetchBatchAsync(parts, sizes, 3, places, firsts, 2, 0, stream_));
  EXPECT_EQ(CU_DEVICE_CPU, Get(CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION, 4096));
  int second = 0;
  ASSERT_CUDA(cuMemRangeGetAttribute(&second, 4, CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION,
                                     parts[1], 8192));
  EXPECT_EQ(1, second);
  ASSERT_CUDA(cuMemPrefetchBatchAsync(parts, sizes, 3, places, firsts, 1, 0, stream_));
  EXPECT_EQ(CU_DEVICE_CPU, Get(CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION, 3 * 4096));
  EXPECT_CUDA(cuMemDiscardBatchAsync(parts, sizes, 3, 0, stream_));
  EXPECT_CUDA(cuStreamSynchronize(stream_));
}

TEST_F(ManagedMemoryTest, MisusedBatchesDoNothing) {
  CUdeviceptr parts[] = {block_, block_ + 4096};
  std::size_t sizes[] = {4096, 4096};
  CUmemLocation places[] = {kDevice, kHost};
  std::size_t firsts[] = {0, 1};
  const auto batch = [&](std::size_t count, std::size_t given, unsigned long long flags,
                         CUstream stream) {
    return cuMemPrefetchBatchAsync(parts, sizes, count, places, firsts, given, flags, stream);
  };
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, batch(0, 1, 0, stream_));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, batch(2, 0, 0, stream_));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, batch(1, 2, 0, stream_));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, batch(2, 2, 1, stream_));
  EXPECT_EQ(CUDA_ERROR_INVALID_HANDLE, batch(2, 2, 0, nullptr));
  firsts[0] = 1;
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, batch(2, 2, 0, stream_));
  firsts[0] = firsts[1] = 0;
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, batch(2, 2, 0, stream_));
  firsts[1] = 1;
  sizes[1] = kBytes;
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, batch(2, 2, 0, stream_));
  EXPECT_EQ(CU_DEVICE_INVALID, Get(CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION, 4096));
}

TEST_F(ManagedMemoryTest, NewMemoryAtTheSameAddressHasNoAdvice) {
  CUdeviceptr first = 0;
  ASSERT_CUDA(cuMemAllocManaged(&first, kBytes, CU_MEM_ATTACH_GLOBAL));
  ASSERT_CUDA(cuMemAdvise(first, kBytes, CU_MEM_ADVISE_SET_READ_MOSTLY, {}));
  EXPECT_CUDA(cuMemFree(first));
  CUdeviceptr second = 0;
  ASSERT_CUDA(cuMemAllocManaged(&second, kBytes, CU_MEM_ATTACH_GLOBAL));
  int mostly = 9;
  ASSERT_CUDA(
      cuMemRangeGetAttribute(&mostly, 4, CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, second, kBytes));
  EXPECT_EQ(0, mostly);
  EXPECT_CUDA(cuMemFree(second));
}

TEST_F(ManagedMemoryTest, NothingOfItIsCaptured) {
  ASSERT_CUDA(cuStreamBeginCapture(stream_, CU_STREAM_CAPTURE_MODE_RELAXED));
  EXPECT_EQ(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,
            cuMemPrefetchAsync(block_, kBytes, kDevice, 0, stream_));
  CUgraph graph = nullptr;
  EXPECT_EQ(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, cuStreamEndCapture(stream_, &graph));
}

}  // namespace
}  // namespace cuheap::sim
