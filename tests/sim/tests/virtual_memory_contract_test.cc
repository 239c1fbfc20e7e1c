// What the documentation says of virtual memory management beyond its ordinary use: properties,
// host memory, several mappings and locations in one call, and calls that fail in the middle.

#include <vector>

#include "tests/sim/tests/machine.h"
#include "tests/sim/tests/readable.h"

namespace cuheap::sim {
namespace {

constexpr std::size_t kPage = 2 * kMiB;
constexpr CUmemLocation kDevice{CU_MEM_LOCATION_TYPE_DEVICE, 0};
constexpr CUmemLocation kPeer{CU_MEM_LOCATION_TYPE_DEVICE, 1};
constexpr CUmemLocation kHost{CU_MEM_LOCATION_TYPE_HOST, 0};
constexpr CUmemLocation kNode{CU_MEM_LOCATION_TYPE_HOST_NUMA, 0};

class VirtualMemoryContractTest : public Machine {
 protected:
  static constexpr std::size_t kRange = 8 * kPage;

  static CUmemAllocationProp At(const CUmemLocation& location) {
    CUmemAllocationProp properties{};
    properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    properties.location = location;
    return properties;
  }
  static CUmemGenericAllocationHandle Create(std::size_t bytes, const CUmemLocation& location) {
    const CUmemAllocationProp properties = At(location);
    CUmemGenericAllocationHandle handle = 0;
    EXPECT_CUDA(cuMemCreate(&handle, bytes, &properties, 0));
    return handle;
  }
  // Maps new memory of one page to each of `count` pages.
  void Fill(std::size_t count, const CUmemLocation& location) {
    for (std::size_t i = 0; i < count; ++i) {
      const auto handle = Create(kPage, location);
      EXPECT_CUDA(cuMemMap(range_ + i * kPage, kPage, 0, handle, 0));
      EXPECT_CUDA(cuMemRelease(handle));
    }
  }
  static CUresult Allow(CUdeviceptr base, std::size_t bytes, const CUmemLocation& location,
                        CUmemAccess_flags flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE) {
    const CUmemAccessDesc access{location, flags};
    return cuMemSetAccess(base, bytes, &access, 1);
  }
  static unsigned long long Access(CUdeviceptr address, const CUmemLocation& location) {
    unsigned long long flags = 99;
    EXPECT_CUDA(cuMemGetAccess(&flags, &location, address));
    return flags;
  }
  void SetUp() override {
    Machine::SetUp();
    ASSERT_CUDA(cuMemAddressReserve(&range_, kRange, 0, 0, 0));
  }
  void TearDown() override {
    cuheap_sim_limit_mappings(UINT64_MAX);
    EXPECT_CUDA(cuMemAddressFree(range_, kRange));
    EXPECT_EQ(0U, cuheap_sim_pinned());
    Machine::TearDown();
  }

  CUdeviceptr range_ = 0;
};

TEST_F(VirtualMemoryContractTest, PropertiesAreValidated) {
  struct Case {
    const char* name;
    CUresult code;
    CUmemAllocationProp properties;
  };
  std::vector<Case> cases;
  const auto add = [&](const char* name, CUresult code, auto change) {
    CUmemAllocationProp properties = At(kDevice);
    change(properties);
    cases.push_back({name, code, properties});
  };
  add("managed", CUDA_ERROR_INVALID_VALUE,
      [](auto& p) { p.type = CU_MEM_ALLOCATION_TYPE_MANAGED; });
  add("no type", CUDA_ERROR_INVALID_VALUE,
      [](auto& p) { p.type = CU_MEM_ALLOCATION_TYPE_INVALID; });
  add("device", CUDA_ERROR_INVALID_DEVICE, [](auto& p) { p.location.id = 2; });
  add("no device", CUDA_ERROR_INVALID_DEVICE, [](auto& p) { p.location.id = -1; });
  add("no location", CUDA_ERROR_INVALID_VALUE, [](auto& p) { p.location = {}; });
  add("current node", CUDA_ERROR_INVALID_VALUE,
      [](auto& p) { p.location.type = CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT; });
  add("node", CUDA_ERROR_INVALID_VALUE, [](auto& p) {
    p.location = {CU_MEM_LOCATION_TYPE_HOST_NUMA, 1};
  });
  add("shared host memory", CUDA_ERROR_INVALID_VALUE, [](auto& p) {
    p.location = kHost;
    p.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
  });
  add("fabric", CUDA_ERROR_NOT_SUPPORTED,
      [](auto& p) { p.requestedHandleTypes = CU_MEM_HANDLE_TYPE_FABRIC; });
  add("windows", CUDA_ERROR_NOT_SUPPORTED,
      [](auto& p) { p.requestedHandleTypes = CU_MEM_HANDLE_TYPE_WIN32; });
  add("handle type", CUDA_ERROR_INVALID_VALUE,
      [](auto& p) { p.requestedHandleTypes = static_cast<CUmemAllocationHandleType>(0x10); });
  add("metadata", CUDA_ERROR_INVALID_VALUE, [](auto& p) { p.win32HandleMetaData = &p; });
  add("compression", CUDA_ERROR_INVALID_VALUE, [](auto& p) { p.allocFlags.compressionType = 2; });
  add("usage", CUDA_ERROR_INVALID_VALUE, [](auto& p) { p.allocFlags.usage = 4; });
  add("RDMA", CUDA_ERROR_NOT_SUPPORTED, [](auto& p) { p.allocFlags.gpuDirectRDMACapable = 1; });
  for (const Case& one : cases) {
    CUmemGenericAllocationHandle handle = 7;
    EXPECT_EQ(one.code, cuMemCreate(&handle, kPage, &one.properties, 0)) << one.name;
    EXPECT_EQ(7U, handle) << one.name;
    std::size_t granularity = 7;
    const CUresult asked = cuMemGetAllocationGranularity(&granularity, &one.properties,
                                                         CU_MEM_ALLOC_GRANULARITY_MINIMUM);
    EXPECT_NE(CUDA_SUCCESS, asked) << one.name;
    EXPECT_NE(CUDA_ERROR_INVALID_DEVICE, asked) << one.name;
    EXPECT_EQ(7U, granularity) << one.name;
  }
}

TEST_F(VirtualMemoryContractTest, HostMemoryHasNoTypeOfHandle) {
  for (const auto type : {CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, CU_MEM_HANDLE_TYPE_WIN32,
                          CU_MEM_HANDLE_TYPE_FABRIC}) {
    CUmemAllocationProp properties{};
    properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    properties.location.type = CU_MEM_LOCATION_TYPE_HOST;
    properties.requestedHandleTypes = type;
    CUmemGenericAllocationHandle handle = 0;
    EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemCreate(&handle, 2 * kMiB, &properties, 0)) << type;
  }
}

TEST_F(VirtualMemoryContractTest, SizesAndFlagsAreValidated) {
  const CUmemAllocationProp properties = At(kDevice);
  CUmemGenericAllocationHandle handle = 7;
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemCreate(&handle, 0, &properties, 0));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemCreate(&handle, kPage, &properties, 1));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemCreate(&handle, SIZE_MAX, &properties, 0));
  EXPECT_EQ(CUDA_ERROR_OUT_OF_MEMORY, cuMemCreate(&handle, SIZE_MAX - kPage + 1, &properties, 0));
  const CUmemAllocationProp on_host = At(kHost);
  EXPECT_EQ(CUDA_ERROR_OUT_OF_MEMORY, cuMemCreate(&handle, SIZE_MAX - kPage + 1, &on_host, 0));
  EXPECT_EQ(7U, handle);
  CUdeviceptr base = 7;
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemAddressReserve(&base, 0, 0, 0, 0));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemAddressReserve(&base, 100, 0, 0, 0));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemAddressReserve(&base, kPage, 3, 0, 0));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemAddressReserve(&base, kPage, 0, 12345, 0));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemAddressReserve(&base, kPage, 0, 0, 1));
  EXPECT_EQ(CUDA_ERROR_OUT_OF_MEMORY, cuMemAddressReserve(&base, SIZE_MAX - 4095, 0, 0, 0));
  EXPECT_EQ(CUDA_ERROR_OUT_OF_MEMORY, cuMemAddressReserve(&base, kPage, 1ULL << 63, 0, 0));
  EXPECT_EQ(7U, base);
}

TEST_F(VirtualMemoryContractTest, ReservationsAreAlignedAsAsked) {
  CUdeviceptr base = 0;
  ASSERT_CUDA(cuMemAddressReserve(&base, 4096, 1ULL << 30, 0, 0));
  EXPECT_EQ(0U, base % (1ULL << 30));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemAddressFree(base, 8192));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemAddressFree(base + 4096, 4096));
  EXPECT_CUDA(cuMemAddressFree(base, 4096));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemAddressFree(base, 4096));
}

TEST_F(VirtualMemoryContractTest, CompressionIsAHintThatThePropertiesAnswer) {
  CUmemAllocationProp properties = At(kDevice);
  properties.allocFlags.compressionType = CU_MEM_ALLOCATION_COMP_GENERIC;
  CUmemGenericAllocationHandle handle = 0;
  ASSERT_CUDA(cuMemCreate(&handle, kPage, &properties, 0));
  ASSERT_CUDA(cuMemGetAllocationPropertiesFromHandle(&properties, handle));
  EXPECT_EQ(CU_MEM_ALLOCATION_COMP_NONE, properties.allocFlags.compressionType);
  EXPECT_CUDA(cuMemRelease(handle));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemGetAllocationPropertiesFromHandle(&properties, handle));
}

TEST_F(VirtualMemoryContractTest, HostMemoryIsReachedByTheHostWhenAllowed) {
  for (const CUmemLocation& location : {kHost, kNode}) {
    const std::size_t used = UsedByDriver();
    Fill(1, location);
    EXPECT_EQ(used, UsedByDriver());
    EXPECT_EQ(kPage, cuheap_sim_pinned());
    EXPECT_FALSE(IsReadable(range_));
    ASSERT_CUDA(Allow(range_, kPage, location));
    *reinterpret_cast<volatile unsigned*>(range_) = 0x11223344;
    unsigned value = 0;
    ASSERT_CUDA(cuMemcpyDtoH(&value, range_, sizeof value));
    EXPECT_EQ(0x11223344U, value);
    unsigned type = 0;
    ASSERT_CUDA(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, range_));
    EXPECT_EQ(static_cast<unsigned>(CU_MEMORYTYPE_HOST), type);
    EXPECT_CUDA(cuMemUnmap(range_, kPage));
    EXPECT_EQ(0U, cuheap_sim_pinned());
  }
}

TEST_F(VirtualMemoryContractTest, HostRightsBelongToHostMemory) {
  Fill(2, kDevice);
  EXPECT_EQ(CUDA_ERROR_NOT_SUPPORTED, Allow(range_, kPage, kHost));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, Allow(range_, kPage, kNode));
  EXPECT_CUDA(cuMemUnmap(range_, 2 * kPage));
  Fill(1, kHost);
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, Allow(range_, kPage, kNode));
  EXPECT_CUDA(Allow(range_, kPage, kHost));
  EXPECT_CUDA(cuMemUnmap(range_, kPage));
}

TEST_F(VirtualMemoryContractTest, RightsOfSeveralLocationsAreSetOverSeveralMappings) {
  Fill(3, kDevice);
  const CUmemAccessDesc access[] = {{kDevice, CU_MEM_ACCESS_FLAGS_PROT_READWRITE},
                                    {kPeer, CU_MEM_ACCESS_FLAGS_PROT_READ}};
  ASSERT_CUDA(cuMemSetAccess(range_, 3 * kPage, access, 2));
  for (int page = 0; page < 3; ++page) {
    EXPECT_EQ(CU_MEM_ACCESS_FLAGS_PROT_READWRITE, Access(range_ + page * kPage + 9, kDevice));
    EXPECT_EQ(CU_MEM_ACCESS_FLAGS_PROT_READ, Access(range_ + page * kPage, kPeer));
  }
  EXPECT_CUDA(cuMemUnmap(range_, 3 * kPage));
  Fill(1, kDevice);
  EXPECT_EQ(CU_MEM_ACCESS_FLAGS_PROT_NONE, Access(range_, kDevice));  // a new mapping has no rights
  EXPECT_CUDA(cuMemUnmap(range_, kPage));
}

TEST_F(VirtualMemoryContractTest, MisusedAccessChangesNothing) {
  Fill(2, kDevice);
  const CUmemAccessDesc access[] = {
      {kDevice, CU_MEM_ACCESS_FLAGS_PROT_READWRITE},
      {{CU_MEM_LOCATION_TYPE_DEVICE, 7}, CU_MEM_ACCESS_FLAGS_PROT_READ}};
  EXPECT_EQ(CUDA_ERROR_INVALID_DEVICE, cuMemSetAccess(range_, 2 * kPage, access, 2));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemSetAccess(range_, 2 * kPage, access, 0));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemSetAccess(range_, 2 * kPage, nullptr, 1));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemSetAccess(range_, 3 * kPage, access, 1));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemSetAccess(range_, 0, access, 1));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemSetAccess(range_ + kPage / 2, kPage, access, 1));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE,
            Allow(range_, kPage, kDevice, static_cast<CUmemAccess_flags>(2)));
  EXPECT_EQ(CU_MEM_ACCESS_FLAGS_PROT_NONE, Access(range_, kDevice));
  unsigned long long flags = 9;
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemGetAccess(&flags, &kDevice, range_ + 2 * kPage));
  EXPECT_EQ(CUDA_ERROR_INVALID_DEVICE, cuMemGetAccess(&flags, &access[1].location, range_));
  EXPECT_CUDA(cuMemUnmap(range_, 2 * kPage));
}

TEST_F(VirtualMemoryContractTest, MisusedMappingsAreRefused) {
  const auto handle = Create(kPage, kDevice);
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemMap(range_, kPage, 0, handle, 1));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemMap(range_, kPage, kPage, handle, 0));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemMap(range_, 0, 0, handle, 0));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemMap(range_ - kPage, kPage, 0, handle, 0));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemMap(range_ + kRange, kPage, 0, handle, 0));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemMap(0, kPage, 0, handle, 0));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemMap(range_, SIZE_MAX - kPage + 1, 0, handle, 0));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemMap(range_, kPage, 0, handle + 16, 0));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemUnmap(range_, kPage));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemUnmap(range_, 0));
  EXPECT_CUDA(cuMemRelease(handle));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemMap(range_, kPage, 0, handle, 0));
}

TEST_F(VirtualMemoryContractTest, SeveralWholeMappingsUnmapAtOnceAndPartsDoNot) {
  Fill(3, kDevice);
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemUnmap(range_, 4 * kPage));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemUnmap(range_ + kPage / 2, kPage));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemAddressFree(range_, kRange));
  EXPECT_CUDA(cuMemUnmap(range_ + kPage, kPage));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemUnmap(range_, 3 * kPage));
  EXPECT_CUDA(cuMemUnmap(range_, kPage));
  EXPECT_CUDA(cuMemUnmap(range_ + 2 * kPage, kPage));
  EXPECT_EQ(0U, cuheap_sim_used(0, CUHEAP_SIM_VMM));
}

TEST_F(VirtualMemoryContractTest, AReleasedHandleIsGoodAgainWhenItsMappingIsAsked) {
  const auto handle = Create(kPage, kDevice);
  ASSERT_CUDA(cuMemMap(range_, kPage, 0, handle, 0));
  EXPECT_CUDA(cuMemRelease(handle));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemRelease(handle));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemMap(range_ + kPage, kPage, 0, handle, 0));
  CUmemGenericAllocationHandle again = 0;
  ASSERT_CUDA(cuMemRetainAllocationHandle(&again, reinterpret_cast<void*>(range_ + kPage - 1)));
  EXPECT_EQ(handle, again);
  EXPECT_CUDA(cuMemMap(range_ + kPage, kPage, 0, again, 0));
  EXPECT_CUDA(cuMemUnmap(range_, 2 * kPage));
  EXPECT_EQ(kPage, cuheap_sim_used(0, CUHEAP_SIM_VMM));
  EXPECT_CUDA(cuMemRelease(again));
  EXPECT_EQ(0U, cuheap_sim_used(0, CUHEAP_SIM_VMM));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE,
            cuMemRetainAllocationHandle(&again, reinterpret_cast<void*>(range_)));
}

TEST_F(VirtualMemoryContractTest, APointerKnowsItsReservation) {
  Fill(1, kDevice);
  for (const CUdeviceptr address : {range_ + 5, range_ + 3 * kPage}) {
    CUdeviceptr base = 0;
    std::size_t bytes = 0;
    unsigned mapped = 9;
    ASSERT_CUDA(cuPointerGetAttribute(&base, CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, address));
    ASSERT_CUDA(cuPointerGetAttribute(&bytes, CU_POINTER_ATTRIBUTE_RANGE_SIZE, address));
    ASSERT_CUDA(cuPointerGetAttribute(&mapped, CU_POINTER_ATTRIBUTE_MAPPED, address));
    EXPECT_EQ(range_, base);
    EXPECT_EQ(kRange, bytes);
    EXPECT_EQ(address < range_ + kPage ? 1U : 0U, mapped);
  }
  CUdeviceptr pointer = 0;
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE,
            cuPointerGetAttribute(&pointer, CU_POINTER_ATTRIBUTE_DEVICE_POINTER, range_));
  ASSERT_CUDA(Allow(range_, kPage, kDevice));
  ASSERT_CUDA(cuPointerGetAttribute(&pointer, CU_POINTER_ATTRIBUTE_DEVICE_POINTER, range_));
  EXPECT_EQ(range_, pointer);
  std::size_t bytes = 0;
  ASSERT_CUDA(cuMemGetAddressRange(&pointer, &bytes, range_ + 77));
  EXPECT_EQ(kPage, bytes);
  EXPECT_CUDA(cuMemUnmap(range_, kPage));
}

TEST_F(VirtualMemoryContractTest, AccessThatFailsInTheMiddleIsTakenBack) {
  Fill(4, kDevice);
  ASSERT_CUDA(Allow(range_, kPage, kDevice, CU_MEM_ACCESS_FLAGS_PROT_READ));
  cuheap_sim_limit_mappings(2);
  EXPECT_EQ(CUDA_ERROR_OUT_OF_MEMORY, Allow(range_, 4 * kPage, kDevice));
  EXPECT_EQ(CU_MEM_ACCESS_FLAGS_PROT_READ, Access(range_, kDevice));
  EXPECT_TRUE(IsReadable(range_));
  for (int page = 1; page < 4; ++page) {
    EXPECT_EQ(CU_MEM_ACCESS_FLAGS_PROT_NONE, Access(range_ + page * kPage, kDevice));
    EXPECT_FALSE(IsReadable(range_ + page * kPage));
  }
  cuheap_sim_limit_mappings(UINT64_MAX);
  ASSERT_CUDA(Allow(range_, 4 * kPage, kDevice));
  EXPECT_CUDA(cuMemsetD8(range_, 1, 4 * kPage));
  EXPECT_CUDA(cuCtxSynchronize());
  EXPECT_CUDA(cuMemUnmap(range_, 4 * kPage));
}

// Fragments the device, so that one handle needs a mapping for each of its pages.
TEST_F(VirtualMemoryContractTest, AMappingThatFailsInTheMiddleLeavesTheRangeFree) {
  std::vector<CUdeviceptr> blocks;
  CUdeviceptr block = 0;
  while (cuMemAlloc(&block, kPage) == CUDA_SUCCESS) blocks.push_back(block);
  for (std::size_t i = 0; i < blocks.size(); i += 2) EXPECT_CUDA(cuMemFree(blocks[i]));
  const auto handle = Create(4 * kPage, kDevice);
  cuheap_sim_limit_mappings(2);
  EXPECT_EQ(CUDA_ERROR_OUT_OF_MEMORY, cuMemMap(range_, 4 * kPage, 0, handle, 0));
  unsigned mapped = 9;
  ASSERT_CUDA(cuPointerGetAttribute(&mapped, CU_POINTER_ATTRIBUTE_MAPPED, range_));
  EXPECT_EQ(0U, mapped);
  cuheap_sim_limit_mappings(UINT64_MAX);
  EXPECT_CUDA(cuMemMap(range_, 4 * kPage, 0, handle, 0));
  EXPECT_CUDA(cuMemUnmap(range_, 4 * kPage));
  EXPECT_CUDA(cuMemRelease(handle));
  for (std::size_t i = 1; i < blocks.size(); i += 2) EXPECT_CUDA(cuMemFree(blocks[i]));
}

TEST_F(VirtualMemoryContractTest, LinearMemoryThatCannotBeMappedIsNotCharged) {
  CUdeviceptr block = Alloc(256 * kMiB);  // written and freed: none of it is accessible
  EXPECT_CUDA(cuMemsetD8(block, 1, 1));
  EXPECT_CUDA(cuMemFree(block));
  cuheap_sim_limit_mappings(0);
  block = 7;
  EXPECT_EQ(CUDA_ERROR_OUT_OF_MEMORY, cuMemAlloc(&block, kPage));
  EXPECT_EQ(CUDA_ERROR_OUT_OF_MEMORY, cuMemAlloc(&block, 100));
  EXPECT_EQ(CUDA_ERROR_OUT_OF_MEMORY, cuMemAllocAsync(&block, 100, nullptr));
  EXPECT_EQ(7U, block);
  cuheap_sim_limit_mappings(UINT64_MAX);
  EXPECT_EQ(0U, cuheap_sim_used(0, CUHEAP_SIM_LINEAR));
  EXPECT_EQ(0U, cuheap_sim_used(0, CUHEAP_SIM_POOL));
  block = Alloc(kPage);
  EXPECT_CUDA(cuMemFree(block));
}

}  // namespace
}  // namespace cuheap::sim
