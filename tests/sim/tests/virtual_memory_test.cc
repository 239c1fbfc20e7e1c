#include <unistd.h>

#include "tests/sim/tests/machine.h"
#include "tests/sim/tests/readable.h"

namespace cuheap::sim {
namespace {

class VirtualMemoryTest : public Machine {
 protected:
  static constexpr std::size_t kPage = 2 * kMiB;

  static CUmemAllocationProp OnDevice(int device) {
    CUmemAllocationProp properties{};
    properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    properties.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, device};
    return properties;
  }
  static CUmemGenericAllocationHandle Create(std::size_t bytes) {
    const CUmemAllocationProp properties = OnDevice(0);
    CUmemGenericAllocationHandle handle = 0;
    EXPECT_CUDA(cuMemCreate(&handle, bytes, &properties, 0));
    return handle;
  }
  static CUresult Allow(CUdeviceptr base, std::size_t bytes, CUmemAccess_flags flags) {
    const CUmemAccessDesc access{{CU_MEM_LOCATION_TYPE_DEVICE, 0}, flags};
    return cuMemSetAccess(base, bytes, &access, 1);
  }
  void SetUp() override {
    Machine::SetUp();
    ASSERT_CUDA(cuMemAddressReserve(&range_, 8 * kPage, 0, 0, 0));
  }
  void TearDown() override {
    EXPECT_CUDA(cuMemAddressFree(range_, 8 * kPage));
    Machine::TearDown();
  }

  CUdeviceptr range_ = 0;
};

TEST_F(VirtualMemoryTest, GranularityIsEnforced) {
  const CUmemAllocationProp properties = OnDevice(0);
  std::size_t granularity = 0;
  ASSERT_CUDA(
      cuMemGetAllocationGranularity(&granularity, &properties, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
  EXPECT_EQ(kPage, granularity);
  CUmemGenericAllocationHandle handle = 4;
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemCreate(&handle, kPage + 4096, &properties, 0));
  EXPECT_EQ(4U, handle);
  handle = Create(kPage);
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemMap(range_ + 4096, kPage, 0, handle, 0));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemMap(range_, 2 * kPage, 0, handle, 0));
  EXPECT_CUDA(cuMemRelease(handle));
}

TEST_F(VirtualMemoryTest, PagesLiveUntilHandleAndMappingAreGone) {
  const auto handle = Create(2 * kPage);
  ASSERT_CUDA(cuMemMap(range_, 2 * kPage, 0, handle, 0));
  EXPECT_CUDA(cuMemRelease(handle));
  EXPECT_EQ(2 * kPage, cuheap_sim_used(0, CUHEAP_SIM_VMM));
  EXPECT_EQ(UsedByDriver(), UsedByList());
  EXPECT_CUDA(cuMemUnmap(range_, 2 * kPage));
  EXPECT_EQ(0U, cuheap_sim_used(0, CUHEAP_SIM_VMM));
}

TEST_F(VirtualMemoryTest, OnlyWholeMappingsUnmap) {
  const auto handle = Create(2 * kPage);
  ASSERT_CUDA(cuMemMap(range_, 2 * kPage, 0, handle, 0));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemMap(range_ + kPage, kPage, 0, handle, 0));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemUnmap(range_, kPage));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemAddressFree(range_, 8 * kPage));
  EXPECT_CUDA(cuMemUnmap(range_, 2 * kPage));
  EXPECT_CUDA(cuMemRelease(handle));
}

TEST_F(VirtualMemoryTest, TwoMappingsShowTheSamePages) {
  const auto handle = Create(kPage);
  ASSERT_CUDA(cuMemMap(range_, kPage, 0, handle, 0));
  ASSERT_CUDA(cuMemMap(range_ + kPage, kPage, 0, handle, 0));
  ASSERT_CUDA(Allow(range_, 2 * kPage, CU_MEM_ACCESS_FLAGS_PROT_READWRITE));
  ASSERT_CUDA(cuMemsetD32(range_ + 100 * 4, 0x55667788, 1));
  unsigned value = 0;
  ASSERT_CUDA(cuMemcpyDtoH(&value, range_ + kPage + 100 * 4, 4));
  EXPECT_EQ(0x55667788U, value);
  ASSERT_CUDA(cuMemsetD8(range_, 1, 2 * kPage));  // one operation over both mappings
  ASSERT_CUDA(cuCtxSynchronize());
  EXPECT_CUDA(cuMemUnmap(range_, 2 * kPage));
  EXPECT_CUDA(cuMemRelease(handle));
}

TEST_F(VirtualMemoryTest, RightsAreKeptForEachDevice) {
  const auto handle = Create(kPage);
  ASSERT_CUDA(cuMemMap(range_, kPage, 0, handle, 0));
  ASSERT_CUDA(Allow(range_, kPage, CU_MEM_ACCESS_FLAGS_PROT_READ));
  unsigned long long flags = 9;
  const CUmemLocation first{CU_MEM_LOCATION_TYPE_DEVICE, 0};
  const CUmemLocation second{CU_MEM_LOCATION_TYPE_DEVICE, 1};
  ASSERT_CUDA(cuMemGetAccess(&flags, &first, range_));
  EXPECT_EQ(static_cast<unsigned>(CU_MEM_ACCESS_FLAGS_PROT_READ), flags);
  ASSERT_CUDA(cuMemGetAccess(&flags, &second, range_));
  EXPECT_EQ(static_cast<unsigned>(CU_MEM_ACCESS_FLAGS_PROT_NONE), flags);
  EXPECT_CUDA(cuMemUnmap(range_, kPage));
  EXPECT_CUDA(cuMemRelease(handle));
}

TEST_F(VirtualMemoryTest, MemoryIsAccessibleOnlyWhileMappedAndAllowed) {
  EXPECT_FALSE(IsReadable(range_));
  const auto handle = Create(kPage);
  ASSERT_CUDA(cuMemMap(range_, kPage, 0, handle, 0));
  EXPECT_FALSE(IsReadable(range_));
  ASSERT_CUDA(Allow(range_, kPage, CU_MEM_ACCESS_FLAGS_PROT_READWRITE));
  EXPECT_TRUE(IsReadable(range_));
  ASSERT_CUDA(Allow(range_, kPage, CU_MEM_ACCESS_FLAGS_PROT_NONE));
  EXPECT_FALSE(IsReadable(range_));
  EXPECT_CUDA(cuMemUnmap(range_, kPage));
  EXPECT_FALSE(IsReadable(range_));
  EXPECT_CUDA(cuMemRelease(handle));
}

TEST_F(VirtualMemoryTest, LinearMemoryThatWasWrittenIsAccessibleOnlyWhileItLives) {
  const CUdeviceptr block = Alloc(4 * kMiB);
  EXPECT_CUDA(cuMemsetD8(block, 1, 1));
  EXPECT_TRUE(IsReadable(block));
  EXPECT_CUDA(cuMemFree(block));
  EXPECT_FALSE(IsReadable(block));
}

TEST_F(VirtualMemoryTest, RetainGivesTheHandleBack) {
  const auto handle = Create(kPage);
  ASSERT_CUDA(cuMemMap(range_, kPage, 0, handle, 0));
  CUmemGenericAllocationHandle again = 0;
  ASSERT_CUDA(cuMemRetainAllocationHandle(&again, reinterpret_cast<void*>(range_ + 5)));
  EXPECT_EQ(handle, again);
  EXPECT_CUDA(cuMemRelease(handle));
  EXPECT_CUDA(cuMemRelease(again));
  EXPECT_CUDA(cuMemUnmap(range_, kPage));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemRelease(handle));
}

TEST_F(VirtualMemoryTest, AnExportedDescriptorImportsInTheSameProcess) {
  const auto handle = Create(kPage);
  int fd = -1;
  ASSERT_CUDA(
      cuMemExportToShareableHandle(&fd, handle, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
  CUmemGenericAllocationHandle imported = 0;
  ASSERT_CUDA(cuMemImportFromShareableHandle(
      &imported, reinterpret_cast<void*>(static_cast<std::intptr_t>(fd)),
      CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR));
  close(fd);
  CUmemAllocationProp properties{};
  ASSERT_CUDA(cuMemGetAllocationPropertiesFromHandle(&properties, imported));
  EXPECT_EQ(0, properties.location.id);
  EXPECT_EQ(kPage, cuheap_sim_used(0, CUHEAP_SIM_VMM));
  EXPECT_EQ(UsedByDriver(), UsedByList());
  EXPECT_CUDA(cuMemRelease(handle));
  EXPECT_CUDA(cuMemRelease(imported));
}

}  // namespace
}  // namespace cuheap::sim
