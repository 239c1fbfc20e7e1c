// What the documentation says of pools beyond taking and freeing: properties, places, access,
// attributes, trimming, misuse.
#include <vector>

#include "tests/sim/tests/machine.h"

namespace cuheap::sim {
namespace {

CUmemPoolProps At(CUmemLocationType type, int id = 0) {
  CUmemPoolProps properties{};
  properties.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location = {type, id};
  return properties;
}

class PoolContractTest : public Machine {
 protected:
  void SetUp() override {
    Machine::SetUp();
    ASSERT_CUDA(cuStreamCreate(&stream_, CU_STREAM_NON_BLOCKING));
  }

  CUmemoryPool New(const CUmemPoolProps& properties) {
    CUmemoryPool pool = nullptr;
    EXPECT_CUDA(cuMemPoolCreate(&pool, &properties));
    return pool;
  }
  CUdeviceptr Take(CUmemoryPool pool, std::size_t bytes) {
    CUdeviceptr block = 0;
    EXPECT_CUDA(cuMemAllocFromPoolAsync(&block, bytes, pool, stream_));
    return block;
  }
  void Give(CUdeviceptr block) {
    EXPECT_CUDA(cuMemFreeAsync(block, stream_));
    EXPECT_CUDA(cuStreamSynchronize(stream_));
  }
  static cuuint64_t Get(CUmemoryPool pool, CUmemPool_attribute attribute) {
    cuuint64_t value = 0;
    EXPECT_CUDA(cuMemPoolGetAttribute(pool, attribute, &value));
    return value;
  }
  static CUresult Set(CUmemoryPool pool, CUmemPool_attribute attribute, cuuint64_t value) {
    return cuMemPoolSetAttribute(pool, attribute, &value);
  }

  CUstream stream_ = nullptr;
};

TEST_F(PoolContractTest, PropertiesAreValidated) {
  struct Case {
    const char* name;
    CUresult code;
    CUmemPoolProps properties;
  };
  std::vector<Case> cases;
  const auto add = [&](const char* name, CUresult code, auto change) {
    CUmemPoolProps properties = At(CU_MEM_LOCATION_TYPE_DEVICE);
    change(properties);
    cases.push_back({name, code, properties});
  };
  add("type", CUDA_ERROR_INVALID_VALUE,
      [](auto& p) { p.allocType = CU_MEM_ALLOCATION_TYPE_INVALID; });
  add("device", CUDA_ERROR_INVALID_VALUE, [](auto& p) { p.location.id = 2; });
  add("location", CUDA_ERROR_INVALID_VALUE,
      [](auto& p) { p.location.type = CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT; });
  add("no location", CUDA_ERROR_INVALID_VALUE,
      [](auto& p) { p.location.type = CU_MEM_LOCATION_TYPE_NONE; });
  add("node", CUDA_ERROR_INVALID_VALUE, [](auto& p) {
    p.location = {CU_MEM_LOCATION_TYPE_HOST_NUMA, 1};
  });
  add("handles of host memory", CUDA_ERROR_INVALID_VALUE, [](auto& p) {
    p.location.type = CU_MEM_LOCATION_TYPE_HOST;
    p.handleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
  });
  add("unknown handles", CUDA_ERROR_INVALID_VALUE,
      [](auto& p) { p.handleTypes = static_cast<CUmemAllocationHandleType>(0x10); });
  add("fabric", CUDA_ERROR_NOT_SUPPORTED,
      [](auto& p) { p.handleTypes = CU_MEM_HANDLE_TYPE_FABRIC; });
  add("reserved", CUDA_ERROR_INVALID_VALUE, [](auto& p) { p.reserved[53] = 1; });
  add("usage", CUDA_ERROR_INVALID_VALUE, [](auto& p) { p.usage = 0x100; });
  add("security", CUDA_ERROR_INVALID_VALUE, [](auto& p) { p.win32SecurityAttributes = &p; });
  for (const Case& one : cases) {
    CUmemoryPool pool = nullptr;
    EXPECT_EQ(one.code, cuMemPoolCreate(&pool, &one.properties)) << one.name;
    EXPECT_EQ(nullptr, pool) << one.name;
  }
}

TEST_F(PoolContractTest, TheLargestSizeIsALimit) {
  CUmemPoolProps properties = At(CU_MEM_LOCATION_TYPE_DEVICE);
  properties.maxSize = 8 * kMiB;
  CUmemoryPool pool = New(properties);
  const CUdeviceptr block = Take(pool, 6 * kMiB);
  CUdeviceptr none = 7;
  EXPECT_EQ(CUDA_ERROR_OUT_OF_MEMORY, cuMemAllocFromPoolAsync(&none, 4 * kMiB, pool, stream_));
  EXPECT_EQ(7U, none);
  EXPECT_LE(Get(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT), 8 * kMiB);
  Give(block);
  EXPECT_CUDA(cuMemPoolDestroy(pool));
}

TEST_F(PoolContractTest, SizesOfNothingAndOfEverythingAreRefused) {
  for (const CUmemLocationType type : {CU_MEM_LOCATION_TYPE_DEVICE, CU_MEM_LOCATION_TYPE_HOST}) {
    CUmemoryPool pool = New(At(type));
    CUdeviceptr block = 7;
    EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemAllocFromPoolAsync(&block, 0, pool, stream_));
    for (const std::size_t bytes : {SIZE_MAX, SIZE_MAX - 511, SIZE_MAX / 2 + 1}) {
      EXPECT_EQ(CUDA_ERROR_OUT_OF_MEMORY, cuMemAllocFromPoolAsync(&block, bytes, pool, stream_));
    }
    EXPECT_EQ(7U, block);
    EXPECT_EQ(0U, Get(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT));
    EXPECT_CUDA(cuMemPoolDestroy(pool));
  }
}

TEST_F(PoolContractTest, ACapturedAllocationIsWhereItsPoolIs) {
  CUmemoryPool pool = New(At(CU_MEM_LOCATION_TYPE_HOST));
  CUdeviceptr block = 0;
  CUgraph graph = nullptr;
  CUgraphExec exec = nullptr;
  ASSERT_CUDA(cuStreamBeginCapture(stream_, CU_STREAM_CAPTURE_MODE_RELAXED));
  ASSERT_CUDA(cuMemAllocFromPoolAsync(&block, 4096, pool, stream_));
  ASSERT_CUDA(cuMemsetD8Async(block, 6, 4096, stream_));
  ASSERT_CUDA(cuStreamEndCapture(stream_, &graph));
  ASSERT_CUDA(cuGraphInstantiate(&exec, graph, 0));
  EXPECT_CUDA(cuGraphDestroy(graph));
  const std::size_t used = UsedByDriver();
  ASSERT_CUDA(cuGraphLaunch(exec, stream_));
  ASSERT_CUDA(cuStreamSynchronize(stream_));
  EXPECT_EQ(used, UsedByDriver());
  EXPECT_EQ(6, reinterpret_cast<volatile char*>(block)[4095]);
  unsigned type = 0;
  EXPECT_CUDA(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, block));
  EXPECT_EQ(unsigned{CU_MEMORYTYPE_HOST}, type);
  EXPECT_CUDA(cuMemFreeAsync(block, stream_));
  EXPECT_CUDA(cuStreamSynchronize(stream_));
  EXPECT_CUDA(cuGraphExecDestroy(exec));
  EXPECT_EQ(0U, cuheap_sim_pinned());
  EXPECT_CUDA(cuMemPoolDestroy(pool));
}

TEST_F(PoolContractTest, HostPoolsGiveHostMemoryAndChargeNoDevice) {
  for (const CUmemLocationType type : {CU_MEM_LOCATION_TYPE_HOST, CU_MEM_LOCATION_TYPE_HOST_NUMA}) {
    CUmemoryPool pool = New(At(type));
    const std::size_t used = UsedByDriver();
    const CUdeviceptr block = Take(pool, 3 * kMiB);
    ASSERT_CUDA(cuStreamSynchronize(stream_));
    EXPECT_EQ(used, UsedByDriver());
    EXPECT_EQ(32 * kMiB, cuheap_sim_pinned());
    reinterpret_cast<volatile char*>(block)[5] = 3;
    unsigned memory = 0;
    ASSERT_CUDA(cuPointerGetAttribute(&memory, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, block));
    EXPECT_EQ(static_cast<unsigned>(CU_MEMORYTYPE_HOST), memory);
    CUdeviceptr host = 0;
    ASSERT_CUDA(cuPointerGetAttribute(&host, CU_POINTER_ATTRIBUTE_HOST_POINTER, block));
    EXPECT_EQ(block, host);
    Give(block);
    EXPECT_EQ(0U, cuheap_sim_pinned());
    EXPECT_CUDA(cuMemPoolDestroy(pool));
  }
}

TEST_F(PoolContractTest, ManagedPoolsGiveManagedMemory) {
  CUmemLocation anywhere{CU_MEM_LOCATION_TYPE_NONE, 0};
  CUmemoryPool pool = nullptr;
  ASSERT_CUDA(cuMemGetDefaultMemPool(&pool, &anywhere, CU_MEM_ALLOCATION_TYPE_MANAGED));
  const CUdeviceptr block = Take(pool, 1000);
  unsigned managed = 0;
  ASSERT_CUDA(cuPointerGetAttribute(&managed, CU_POINTER_ATTRIBUTE_IS_MANAGED, block));
  EXPECT_EQ(1U, managed);
  Give(block);
}

TEST_F(PoolContractTest, EachPlaceHasItsOwnPools) {
  CUmemLocation device{CU_MEM_LOCATION_TYPE_DEVICE, 0};
  CUmemLocation host{CU_MEM_LOCATION_TYPE_HOST, 17};
  CUmemoryPool of_device = nullptr;
  CUmemoryPool of_host = nullptr;
  ASSERT_CUDA(cuMemGetDefaultMemPool(&of_device, &device, CU_MEM_ALLOCATION_TYPE_PINNED));
  ASSERT_CUDA(cuMemGetDefaultMemPool(&of_host, &host, CU_MEM_ALLOCATION_TYPE_PINNED));
  CUmemoryPool same = nullptr;
  ASSERT_CUDA(cuDeviceGetDefaultMemPool(&same, 0));
  EXPECT_EQ(of_device, same);
  EXPECT_NE(of_device, of_host);
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemPoolDestroy(of_host));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE,
            cuMemSetMemPool(&device, CU_MEM_ALLOCATION_TYPE_PINNED, of_host));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuDeviceSetMemPool(0, of_host));

  CUmemoryPool mine = New(At(CU_MEM_LOCATION_TYPE_HOST));
  ASSERT_CUDA(cuMemSetMemPool(&host, CU_MEM_ALLOCATION_TYPE_PINNED, mine));
  ASSERT_CUDA(cuMemGetMemPool(&same, &host, CU_MEM_ALLOCATION_TYPE_PINNED));
  EXPECT_EQ(mine, same);
  ASSERT_CUDA(cuMemPoolDestroy(mine));
  ASSERT_CUDA(cuMemGetMemPool(&same, &host, CU_MEM_ALLOCATION_TYPE_PINNED));
  EXPECT_EQ(of_host, same);
}

TEST_F(PoolContractTest, PlacesThatAreNoneAreRefused) {
  CUmemoryPool pool = nullptr;
  CUmemLocation place{CU_MEM_LOCATION_TYPE_NONE, 0};
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE,
            cuMemGetDefaultMemPool(&pool, &place, CU_MEM_ALLOCATION_TYPE_PINNED));
  place.type = CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT;
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE,
            cuMemGetMemPool(&pool, &place, CU_MEM_ALLOCATION_TYPE_PINNED));
  place = {CU_MEM_LOCATION_TYPE_DEVICE, 5};
  EXPECT_EQ(CUDA_ERROR_INVALID_DEVICE,
            cuMemGetDefaultMemPool(&pool, &place, CU_MEM_ALLOCATION_TYPE_PINNED));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuDeviceGetMemPool(&pool, 5));
  EXPECT_EQ(CUDA_ERROR_INVALID_DEVICE, cuDeviceGetDefaultMemPool(&pool, 5));
  place.id = 0;
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE,
            cuMemGetMemPool(&pool, &place, CU_MEM_ALLOCATION_TYPE_INVALID));
  EXPECT_EQ(nullptr, pool);
}

TEST_F(PoolContractTest, TrimmingNeverGoesBelowWhatIsToBeKept) {
  CUmemoryPool pool = New(At(CU_MEM_LOCATION_TYPE_DEVICE));
  ASSERT_CUDA(Set(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, UINT64_MAX));
  const CUdeviceptr first = Take(pool, 32 * kMiB);
  const CUdeviceptr second = Take(pool, 32 * kMiB);
  Give(first);
  Give(second);
  ASSERT_CUDA(cuMemPoolTrimTo(pool, 40 * kMiB));
  EXPECT_EQ(64 * kMiB, Get(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT));
  ASSERT_CUDA(cuMemPoolTrimTo(pool, 32 * kMiB));
  EXPECT_EQ(32 * kMiB, Get(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT));
  ASSERT_CUDA(cuMemPoolTrimTo(pool, SIZE_MAX));
  EXPECT_EQ(32 * kMiB, Get(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT));
  EXPECT_CUDA(cuMemPoolDestroy(pool));
}

TEST_F(PoolContractTest, HighWatermarksAreResetByZeroAndByNothingElse) {
  CUmemoryPool pool = New(At(CU_MEM_LOCATION_TYPE_DEVICE));
  Give(Take(pool, 48 * kMiB));
  EXPECT_EQ(48 * kMiB, Get(pool, CU_MEMPOOL_ATTR_USED_MEM_HIGH));
  EXPECT_EQ(48 * kMiB, Get(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH));
  for (const auto high : {CU_MEMPOOL_ATTR_USED_MEM_HIGH, CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH}) {
    EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, Set(pool, high, 1));
    EXPECT_EQ(48 * kMiB, Get(pool, high));
    EXPECT_CUDA(Set(pool, high, 0));
    EXPECT_EQ(0U, Get(pool, high));
  }
  for (const auto current :
       {CU_MEMPOOL_ATTR_USED_MEM_CURRENT, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT}) {
    EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, Set(pool, current, 0));
  }
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, Set(pool, static_cast<CUmemPool_attribute>(0), 0));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, Set(pool, static_cast<CUmemPool_attribute>(15), 0));
  EXPECT_CUDA(cuMemPoolDestroy(pool));
}

TEST_F(PoolContractTest, ReusePoliciesAreOnUntilTurnedOff) {
  CUmemoryPool pool = New(At(CU_MEM_LOCATION_TYPE_DEVICE));
  for (const auto policy :
       {CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES, CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC,
        CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES}) {
    int value = 5;
    ASSERT_CUDA(cuMemPoolGetAttribute(pool, policy, &value));
    EXPECT_EQ(1, value);
    value = 0;
    ASSERT_CUDA(cuMemPoolSetAttribute(pool, policy, &value));
    value = 5;
    ASSERT_CUDA(cuMemPoolGetAttribute(pool, policy, &value));
    EXPECT_EQ(0, value);
  }
  EXPECT_CUDA(cuMemPoolDestroy(pool));
}

TEST_F(PoolContractTest, AccessOfOthersComesAndGoesAsAWhole) {
  CUmemoryPool pool = New(At(CU_MEM_LOCATION_TYPE_DEVICE));
  CUmemLocation other{CU_MEM_LOCATION_TYPE_DEVICE, 1};
  CUmemAccess_flags flags = CU_MEM_ACCESS_FLAGS_PROT_MAX;
  ASSERT_CUDA(cuMemPoolGetAccess(&flags, pool, &other));
  EXPECT_EQ(CU_MEM_ACCESS_FLAGS_PROT_NONE, flags);
  CUmemAccessDesc wanted[] = {{other, CU_MEM_ACCESS_FLAGS_PROT_READWRITE},
                              {{CU_MEM_LOCATION_TYPE_DEVICE, 9}, CU_MEM_ACCESS_FLAGS_PROT_READ}};
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemPoolSetAccess(pool, wanted, 2));
  ASSERT_CUDA(cuMemPoolGetAccess(&flags, pool, &other));
  EXPECT_EQ(CU_MEM_ACCESS_FLAGS_PROT_NONE, flags);
  ASSERT_CUDA(cuMemPoolSetAccess(pool, wanted, 1));
  ASSERT_CUDA(cuMemPoolGetAccess(&flags, pool, &other));
  EXPECT_EQ(CU_MEM_ACCESS_FLAGS_PROT_READWRITE, flags);
  wanted[0] = {{CU_MEM_LOCATION_TYPE_DEVICE, 0}, CU_MEM_ACCESS_FLAGS_PROT_NONE};
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemPoolSetAccess(pool, wanted, 1));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemPoolSetAccess(pool, wanted, 0));
  EXPECT_CUDA(cuMemPoolDestroy(pool));
}

TEST_F(PoolContractTest, ABlockIsFreedOnceInAnyStreamAndByItsStart) {
  CUmemoryPool pool = New(At(CU_MEM_LOCATION_TYPE_DEVICE));
  CUstream other = nullptr;
  ASSERT_CUDA(cuStreamCreate(&other, CU_STREAM_NON_BLOCKING));
  const CUdeviceptr block = Take(pool, 4096);
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemFreeAsync(block + 512, other));
  ASSERT_CUDA(cuStreamSynchronize(stream_));
  EXPECT_CUDA(cuMemFreeAsync(block, other));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemFreeAsync(block, other));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemFree(block));
  EXPECT_CUDA(cuStreamSynchronize(other));
  EXPECT_CUDA(cuMemPoolDestroy(pool));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemPoolDestroy(pool));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemPoolTrimTo(pool, 0));
}

TEST_F(PoolContractTest, AStreamOfOneDeviceTakesFromThePoolOfAnother) {
  CUmemoryPool pool = New(At(CU_MEM_LOCATION_TYPE_DEVICE, 1));
  const CUdeviceptr block = Take(pool, 100);
  int device = -1;
  ASSERT_CUDA(cuPointerGetAttribute(&device, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, block));
  EXPECT_EQ(1, device);
  Give(block);
  EXPECT_CUDA(cuMemPoolDestroy(pool));
}

}  // namespace
}  // namespace cuheap::sim
