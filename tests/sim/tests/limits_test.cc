// Where the machine ends, and that it goes on afterwards: mappings of the kernel, many small
// blocks, and what they cost the host.
#include <unistd.h>

#include <fstream>
#include <vector>

#include "tests/sim/tests/machine.h"

namespace cuheap::sim {
namespace {

constexpr std::size_t kPage = 2 * kMiB;

// A sanitizer needs mappings for itself and ends the process without them, so there the limit is
// simulated too.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr std::uint64_t kMappings = 24000;
#else
constexpr std::uint64_t kMappings = UINT64_MAX;
#endif

std::size_t ResidentBytes() {
  std::ifstream file("/proc/self/statm");
  std::size_t all = 0;
  std::size_t resident = 0;
  file >> all >> resident;
  return resident * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

class LimitsTest : public Machine {
 protected:
  static void SetUpTestSuite() {
    setenv("CUHEAP_SIM_MEMORY", "80G", 1);
    setenv("CUHEAP_SIM_DEVICES", "1", 1);
    ASSERT_CUDA(cuInit(0));
  }

  // One page of new memory at `base`, open to the device. On failure nothing is left behind.
  static CUresult Fill(CUdeviceptr base) {
    CUmemAllocationProp properties{};
    properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
    CUmemGenericAllocationHandle handle = 0;
    CUresult result = cuMemCreate(&handle, kPage, &properties, 0);
    if (result != CUDA_SUCCESS) return result;
    result = cuMemMap(base, kPage, 0, handle, 0);
    EXPECT_CUDA(cuMemRelease(handle));
    if (result != CUDA_SUCCESS) return result;
    const CUmemAccessDesc access{properties.location, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    result = cuMemSetAccess(base, kPage, &access, 1);
    if (result != CUDA_SUCCESS) {
      EXPECT_CUDA(cuMemUnmap(base, kPage));
    }
    return result;
  }
};

// Every second page, so that no two mappings are one for the kernel.
TEST_F(LimitsTest, ScatteredPagesEndCleanlyWhereTheKernelsMappingsDo) {
  constexpr std::size_t kMost = 80 * kGiB / kPage;
  CUdeviceptr range = 0;
  ASSERT_CUDA(cuMemAddressReserve(&range, 2 * kMost * kPage, 0, 0, 0));
  cuheap_sim_limit_mappings(kMappings);
  std::size_t filled = 0;
  CUresult result = CUDA_SUCCESS;
  while ((result = Fill(range + 2 * filled * kPage)) == CUDA_SUCCESS) ++filled;
  EXPECT_EQ(CUDA_ERROR_OUT_OF_MEMORY, result);
  EXPECT_GT(filled, 10000U);
  EXPECT_EQ(filled * kPage, cuheap_sim_used(0, CUHEAP_SIM_VMM));
  EXPECT_EQ(filled, cuheap_sim_live_blocks(0, CUHEAP_SIM_VMM));
  EXPECT_EQ(UsedByDriver(), UsedByList());

  // What there is goes on working, and what is given back can be had again.
  cuheap_sim_limit_mappings(kMappings);
  EXPECT_CUDA(cuMemsetD8(range + 2 * (filled - 1) * kPage, 1, kPage));
  EXPECT_CUDA(cuCtxSynchronize());
  EXPECT_CUDA(cuMemUnmap(range, kPage));
  EXPECT_CUDA(Fill(range));
  for (std::size_t i = 0; i < filled; ++i) EXPECT_CUDA(cuMemUnmap(range + 2 * i * kPage, kPage));
  EXPECT_CUDA(cuMemAddressFree(range, 2 * kMost * kPage));
  EXPECT_EQ(0U, cuheap_sim_used(0, CUHEAP_SIM_VMM));
  const CUdeviceptr block = Alloc(kGiB);
  EXPECT_CUDA(cuMemFree(block));
}

TEST_F(LimitsTest, AMillionSmallBlocksCostLittle) {
  constexpr std::size_t kBlocks = 1000000;
  const std::size_t before = ResidentBytes();
  std::vector<CUdeviceptr> blocks(kBlocks);
  for (CUdeviceptr& block : blocks) ASSERT_CUDA(cuMemAlloc(&block, 400));
  EXPECT_EQ(kBlocks, cuheap_sim_live_blocks(0, CUHEAP_SIM_LINEAR));
  EXPECT_EQ(kBlocks * 400, cuheap_sim_live_bytes(0, CUHEAP_SIM_LINEAR));
  EXPECT_LT(ResidentBytes() - before, kGiB);
  EXPECT_EQ(UsedByDriver(), UsedByList());
  for (const CUdeviceptr block : blocks) ASSERT_CUDA(cuMemFree(block));
  EXPECT_EQ(0U, cuheap_sim_used(0, CUHEAP_SIM_LINEAR));
}

TEST_F(LimitsTest, ZeroedMemoryOfAWholeDeviceCostsTheHostNothing) {
  const std::size_t before = ResidentBytes();
  const CUdeviceptr block = Alloc(79 * kGiB);
  EXPECT_CUDA(cuMemsetD8(block, 0, 79 * kGiB));
  EXPECT_CUDA(cuCtxSynchronize());
  EXPECT_LT(ResidentBytes() - before, 64 * kMiB);
  EXPECT_CUDA(cuMemFree(block));
}

}  // namespace
}  // namespace cuheap::sim
