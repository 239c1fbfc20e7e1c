// Accounts of latency. The figures here are those of latency.def.
#include <thread>

#include "tests/sim/testing/call_log.h"
#include "tests/sim/tests/machine.h"

namespace cuheap::sim {
namespace {

constexpr std::uint64_t kUs = 1000;

class LatencyTest : public Machine {
 protected:
  void SetUp() override {
    Machine::SetUp();
    cuheap_sim_charge_latency(1);
  }
  void TearDown() override {
    cuheap_sim_charge_latency(0);
    Machine::TearDown();
  }
  // What the calling thread is charged for `work`.
  template <class Work>
  static std::uint64_t CostOf(Work work) {
    const std::uint64_t before = cuheap_sim_latency_of_thread();
    work();
    return cuheap_sim_latency_of_thread() - before;
  }
};

TEST_F(LatencyTest, LinearMemoryCostsAFixedSumAndMoreBeyondOneMebibyte) {
  CUdeviceptr block = 0;
  const auto allocate = [&](std::size_t bytes) {
    return CostOf([&] { ASSERT_CUDA(cuMemAlloc(&block, bytes)); });
  };
  const auto release = [&] { return CostOf([&] { ASSERT_CUDA(cuMemFree(block)); }); };
  EXPECT_EQ(60 * kUs, allocate(1));
  EXPECT_EQ(120 * kUs, release());
  EXPECT_EQ(60 * kUs, allocate(kMiB));
  release();
  EXPECT_EQ(60 * kUs + 500 * kUs, allocate(kGiB + kMiB));
  release();
  EXPECT_EQ(60 * kUs + 250 * kUs, allocate(kGiB / 2 + kMiB));
  release();
}

TEST_F(LatencyTest, PhysicalMemoryCostsByItsPages) {
  CUmemAllocationProp properties{};
  properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, {0}};
  CUmemGenericAllocationHandle handle = 0;
  CUdeviceptr address = 0;
  const CUmemAccessDesc access{properties.location, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
  EXPECT_EQ(3 * 193 * kUs,
            CostOf([&] { ASSERT_CUDA(cuMemCreate(&handle, 6 * kMiB, &properties, 0)); }));
  EXPECT_EQ(19 * kUs,
            CostOf([&] { ASSERT_CUDA(cuMemAddressReserve(&address, 6 * kMiB, 0, 0, 0)); }));
  EXPECT_EQ(1450U, CostOf([&] { ASSERT_CUDA(cuMemMap(address, 6 * kMiB, 0, handle, 0)); }));
  EXPECT_EQ(36 * kUs, CostOf([&] { ASSERT_CUDA(cuMemSetAccess(address, 6 * kMiB, &access, 1)); }));
  EXPECT_EQ(25'600U, CostOf([&] { ASSERT_CUDA(cuMemUnmap(address, 6 * kMiB)); }));
  EXPECT_EQ(5 * kUs, CostOf([&] { ASSERT_CUDA(cuMemAddressFree(address, 6 * kMiB)); }));
  EXPECT_EQ(0U, CostOf([&] { ASSERT_CUDA(cuMemRelease(handle)); }));
}

TEST_F(LatencyTest, APoolCostsMoreWhereTheDeviceMustGiveItMemory) {
  CUdeviceptr first = 0;
  CUdeviceptr second = 0;
  EXPECT_EQ(80 * kUs, CostOf([&] { ASSERT_CUDA(cuMemAllocAsync(&first, kMiB, nullptr)); }));
  EXPECT_EQ(1500U, CostOf([&] { ASSERT_CUDA(cuMemAllocAsync(&second, kMiB, nullptr)); }));
  EXPECT_EQ(0U, CostOf([&] { ASSERT_CUDA(cuMemFreeAsync(first, nullptr)); }));
  EXPECT_CUDA(cuMemFreeAsync(second, nullptr));
}

TEST_F(LatencyTest, CallsThatFailAreNotCharged) {
  CUdeviceptr block = 0;
  EXPECT_EQ(0U, CostOf([&] { EXPECT_NE(CUDA_SUCCESS, cuMemAlloc(&block, 100 * kGiB)); }));
  ASSERT_EQ(0, cuheap_sim_fail("cuCtxSynchronize", 1, CUDA_ERROR_UNKNOWN));
  EXPECT_EQ(0U, CostOf([&] { EXPECT_EQ(CUDA_ERROR_UNKNOWN, cuCtxSynchronize()); }));
  cuheap_sim_clear_faults();
}

TEST_F(LatencyTest, TheProcessIsChargedForAllThreadsAndAThreadForItsOwn) {
  const std::uint64_t before = cuheap_sim_latency_of_process();
  EXPECT_EQ(8 * kUs, CostOf([&] {
              EXPECT_CUDA(cuCtxSynchronize());
              std::thread([this] {
                EXPECT_CUDA(cuCtxSetCurrent(context_));
                EXPECT_CUDA(cuCtxSynchronize());
                EXPECT_CUDA(cuCtxSynchronize());
                EXPECT_EQ(16 * kUs, cuheap_sim_latency_of_thread());
              }).join();
            }));
  EXPECT_EQ(before + 24 * kUs, cuheap_sim_latency_of_process());
}

TEST_F(LatencyTest, TheLogSaysWhatEachCallWasCharged) {
  const CallLog log;
  EXPECT_CUDA(cuCtxSynchronize());
  EXPECT_EQ(8 * kUs, log.Calls("cuCtxSynchronize").at(0).latency_ns);
}

TEST_F(LatencyTest, NothingIsChargedWhileItIsOff) {
  cuheap_sim_charge_latency(0);
  EXPECT_EQ(0U, CostOf([] { EXPECT_CUDA(cuCtxSynchronize()); }));
}

}  // namespace
}  // namespace cuheap::sim
