// The pool on the simulated device, whose streams do their work when the settings of the run say
// so, and which notices work on memory that is somebody else's by then.
#include <cuda_runtime_api.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "allocator/driver/cuda_driver.h"
#include "allocator/pool/pool.h"
#include "tests/apps/churn.h"
#include "tests/base/seeds.h"
#include "tests/sim/engine/sim_api.h"

namespace cuheap::pool {
namespace {

using ::testing::IsEmpty;

constexpr DeviceId kDevice{0};

StreamHandle HandleOf(cudaStream_t stream) {
  return StreamHandle(reinterpret_cast<std::uintptr_t>(stream));
}

std::string LastRace() {
  std::string text(1 << 16, '\0');
  cuheap_sim_last_race(text.data(), text.size());
  return text.substr(0, text.find('\0'));
}

class PoolOnSimulation : public ::testing::Test {
 public:
  void SetUp() override {
    ASSERT_EQ(cudaFree(nullptr), cudaSuccess);
    cuheap_sim_forget_races();
    ASSERT_TRUE(driver_.Start(CudaDriver::FindInLibcuda).ok()) << driver_.missing();
  }
  void TearDown() override {
    EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
    EXPECT_STREQ(pool_->FirstBrokenLaw(), nullptr);
    pool_->Shutdown();
    EXPECT_EQ(cuheap_sim_races(), 0u) << LastRace();
  }

  void* Allocate(std::size_t bytes, cudaStream_t stream) {
    Address address{};
    const Status status =
        pool_->Allocate({.bytes = Bytes(bytes), .stream = HandleOf(stream)}, &address);
    return status.ok() ? reinterpret_cast<void*>(Value(address)) : nullptr;
  }
  Code Free(void* block) {
    return pool_->Free(Address(reinterpret_cast<std::uintptr_t>(block))).code;
  }
  Code Free(void* block, cudaStream_t stream) {
    return pool_->Free(Address(reinterpret_cast<std::uintptr_t>(block)), HandleOf(stream)).code;
  }

  Code RecordUse(void* block, cudaStream_t stream) {
    return pool_->RecordUse(Address(reinterpret_cast<std::uintptr_t>(block)), HandleOf(stream))
        .code;
  }

  void ChurnCleanly(apps::ChurnOptions options) {
    const apps::Heap heap{
        .allocate = [this](std::size_t bytes,
                           cudaStream_t stream) { return Allocate(bytes, stream); },
        .deallocate = [this](void* block, std::size_t,
                             cudaStream_t stream) { EXPECT_EQ(Free(block, stream), Code::kOk); }};
    options.alignment = 512;
    options.turns = std::min(options.turns, 150u);
    for (const std::uint32_t seed : testing::Seeds({1, 2})) {
      SCOPED_TRACE(seed);
      options.seed = seed;
      EXPECT_THAT(Churn(heap, options), IsEmpty());
      EXPECT_STREQ(pool_->FirstBrokenLaw(), nullptr);
      EXPECT_EQ(cuheap_sim_races(), 0u) << LastRace();
      EmptyResult result;
      EXPECT_TRUE(pool_->Empty(kDevice, {}, &result).ok());
      Statistics figures;
      EXPECT_TRUE(pool_->Figures(kDevice, &figures).ok());
      EXPECT_EQ(figures.reserved, Bytes());
    }
  }

  CudaDriver driver_;
  std::unique_ptr<Pool> pool_ = std::make_unique<Pool>();
};

class PoolChurn : public PoolOnSimulation {
 public:
  void SetUp() override {
    PoolOnSimulation::SetUp();
    pool_->Start(&driver_, {});
  }
};

TEST_F(PoolChurn, ThreadsOnSharedStreams) { ChurnCleanly({}); }
TEST_F(PoolChurn, TwoStreams) { ChurnCleanly({.streams = 2}); }
TEST_F(PoolChurn, FiveStreams) { ChurnCleanly({.streams = 5}); }
TEST_F(PoolChurn, BlocksFreedOnOtherStreams) {
  ChurnCleanly({.release = apps::Release::kOnAnyStream});
}
TEST_F(PoolChurn, TheDefaultStreamOfEachThread) { ChurnCleanly({.streams = 0}); }
TEST_F(PoolChurn, LargeBlocksOnAFullDevice) {
  ChurnCleanly({.turns = 100, .held = 6, .largest = 24 << 20});
}

TEST_F(PoolChurn, LargeBlocksFreedOnOtherStreamsOfAFullDevice) {
  ChurnCleanly(
      {.turns = 100, .held = 6, .largest = 24 << 20, .release = apps::Release::kOnAnyStream});
}

// Blocks of one stream that another works on last: told by record_use, or freed there.
class Borrower {
 public:
  Borrower(PoolChurn& test, std::uint32_t seed) : test_(test), random_(seed) {
    for (cudaStream_t* stream : {&own_, &other_})
      EXPECT_EQ(cudaStreamCreateWithFlags(stream, cudaStreamNonBlocking), cudaSuccess);
    EXPECT_EQ(cudaEventCreateWithFlags(&event_, cudaEventDisableTiming), cudaSuccess);
  }
  ~Borrower() {
    EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
    EXPECT_EQ(cudaEventDestroy(event_), cudaSuccess);
    for (cudaStream_t stream : {own_, other_}) EXPECT_EQ(cudaStreamDestroy(stream), cudaSuccess);
  }
  Borrower(const Borrower&) = delete;
  Borrower& operator=(const Borrower&) = delete;

  void Turn() {
    const std::size_t bytes = std::size_t{1} << (9 + random_() % 15);
    void* const block = test_.Allocate(bytes, own_);
    ASSERT_NE(block, nullptr);
    Use(block, bytes, own_);
    EXPECT_EQ(cudaEventRecord(event_, own_), cudaSuccess);
    EXPECT_EQ(cudaStreamWaitEvent(other_, event_, 0), cudaSuccess);
    Use(block, bytes, other_);
    if (random_() % 2 == 0) {
      EXPECT_EQ(test_.Free(block, other_), Code::kOk);
    } else {
      EXPECT_EQ(test_.RecordUse(block, other_), Code::kOk);
      Use(block, bytes, other_);
      EXPECT_EQ(test_.Free(block), Code::kOk);
    }
  }

 private:
  static void Use(void* block, std::size_t bytes, cudaStream_t stream) {
    EXPECT_EQ(cudaMemsetAsync(block, 1, bytes, stream), cudaSuccess);
  }

  PoolChurn& test_;
  std::mt19937 random_;
  cudaStream_t own_ = nullptr;
  cudaStream_t other_ = nullptr;
  cudaEvent_t event_ = nullptr;
};

TEST_F(PoolChurn, BlocksThatAnotherStreamUsesLastAreNotReusedBeforeItIsDone) {
  for (const std::uint32_t seed : testing::Seeds({1, 2})) {
    std::vector<std::thread> threads;
    for (std::uint32_t thread = 0; thread < 3; ++thread)
      threads.emplace_back([this, seed, thread] {
        Borrower borrower(*this, seed * 10 + thread);
        for (int turn = 0; turn < 100; ++turn) borrower.Turn();
      });
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(cuheap_sim_races(), 0u) << LastRace();
  }
}

}  // namespace
}  // namespace cuheap::pool
