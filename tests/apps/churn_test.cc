// Churn notices each way in which a heap can fail it.
#include "tests/apps/churn.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>

#include "tests/apps/device_figures.h"

namespace cuheap::apps {
namespace {

using ::testing::Contains;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

// Gives consecutive places of one large block; the faults are made by the tests.
class ChurnTest : public DeviceFigures {
 protected:
  void SetUp() override {
    DeviceFigures::SetUp();
    ASSERT_EQ(cudaMalloc(&memory_, kBytes), cudaSuccess);
  }
  void TearDown() override {
    EXPECT_EQ(cudaFree(memory_), cudaSuccess);
    DeviceFigures::TearDown();
  }

  Heap HeapOfPlaces(std::size_t distance, std::size_t offset = 0) {
    return {.allocate = [this, distance, offset](std::size_t, cudaStream_t) -> void* {
              const std::size_t place = next_++ * distance;
              return place + kLargest > kBytes ? nullptr
                                               : static_cast<char*>(memory_) + offset + place;
            },
            .deallocate = [](void*, std::size_t, cudaStream_t) {}};
  }

  static constexpr std::size_t kBytes = 64 * kMiB;
  static constexpr std::size_t kLargest = 4096;
  static constexpr ChurnOptions kOptions{.turns = 100, .largest = kLargest};

  void* memory_ = nullptr;
  std::atomic<std::size_t> next_{0};
};

TEST_F(ChurnTest, PlacesApartAreFine) {
  EXPECT_THAT(Churn(HeapOfPlaces(kLargest), kOptions), IsEmpty());
  EXPECT_GT(next_, 200U);
}

TEST_F(ChurnTest, PlacesThatOverlapAreNamed) {
  EXPECT_THAT(Churn(HeapOfPlaces(256), kOptions), Contains(HasSubstr("overlaps live block")));
}

TEST_F(ChurnTest, OddPlacesAreNotAligned) {
  const auto faults = Churn(HeapOfPlaces(kLargest, 8), kOptions);
  EXPECT_THAT(faults, SizeIs(next_.load()));
  EXPECT_THAT(faults, Each(HasSubstr("is not aligned")));
}

TEST_F(ChurnTest, ARefusalIsTold) {
  EXPECT_THAT(Churn(HeapOfPlaces(kBytes), kOptions), Contains(HasSubstr("was refused")));
}

TEST_F(ChurnTest, AHeapThatWritesIntoItsBlocksIsFoundOut) {
  Heap heap = HeapOfPlaces(kLargest);
  char* last = nullptr;
  heap.allocate = [&last, places = heap.allocate](std::size_t bytes, cudaStream_t stream) {
    if (last != nullptr) cudaMemset(last, 0, 1);
    last = static_cast<char*>(places(bytes, stream));
    return last;
  };
  ChurnOptions options = kOptions;
  options.threads = 1;
  const auto faults = Churn(heap, options);
  EXPECT_THAT(faults, Not(IsEmpty()));
  EXPECT_THAT(faults, Each(HasSubstr("lost its contents")));
}

}  // namespace
}  // namespace cuheap::apps
