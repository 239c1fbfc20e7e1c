#include "allocator/core/best_fit.h"

#include <gtest/gtest.h>

#include <random>

#include "tests/base/seeds.h"
#include "tests/core/best_fit_model.h"

namespace cuheap::core {
namespace {

std::uint64_t BeginOf(BestFit& fit, BlockId block) { return fit[block].begin; }

TEST(BestFitTest, TakesTheSmallestThatIsLargeEnough) {
  BestFit fit;
  fit.AddSegment(0x1000, 100_B, BlockState::kFree);
  fit.AddSegment(0x2000, 40_B, BlockState::kFree);
  fit.AddSegment(0x3000, 60_B, BlockState::kFree);
  EXPECT_EQ(BeginOf(fit, fit.Allocate(41_B)), 0x3000u);
  EXPECT_EQ(BeginOf(fit, fit.Allocate(40_B)), 0x2000u);
  EXPECT_FALSE(fit.Allocate(101_B));
  EXPECT_EQ(fit.LargestFree(), 100_B);
}

TEST(BestFitTest, TakesTheLowestOfEqualOnes) {
  BestFit fit;
  for (const std::uint64_t begin : {0x3000u, 0x1000u, 0x2000u})
    fit.AddSegment(begin, 64_B, BlockState::kFree);
  EXPECT_EQ(BeginOf(fit, fit.Allocate(10_B)), 0x1000u);
}

TEST(BestFitTest, AlignedBlocksBeginAtMultiples) {
  BestFit fit;
  fit.AddSegment(0x1010, 0x200_B, BlockState::kFree);
  EXPECT_FALSE(fit.AllocateAligned(0x110_B, 0x100_B)) << "0x1100 is not certain";
  const BlockId block = fit.AllocateAligned(0x100_B, 0x100_B);
  EXPECT_EQ(BeginOf(fit, block), 0x1100u);
  EXPECT_EQ(fit.Sum(BlockState::kFree), 0x100_B);
  fit.Free(block);
  EXPECT_EQ(fit.LargestFree(), 0x200_B);
  fit.AddSegment(0x4000, 0x80_B, BlockState::kFree);
  EXPECT_EQ(BeginOf(fit, fit.AllocateAligned(0x80_B, 0x1000_B)), 0x4000u) << "fits as it is";
  EXPECT_EQ(fit.FirstBrokenLaw(), nullptr);
}

TEST(BestFitTest, FreedNeighboursMergeInsideTheirSegmentOnly) {
  BestFit fit;
  fit.AddSegment(0x1000, 64_B, BlockState::kFree);
  fit.AddSegment(0x1040, 64_B, BlockState::kFree);
  const BlockId a = fit.Allocate(32_B);
  const BlockId b = fit.Allocate(32_B);
  EXPECT_EQ(fit[fit.Free(a)].bytes, 32_B);
  EXPECT_EQ(fit[fit.Free(b)].bytes, 64_B);
  EXPECT_EQ(fit.LargestFree(), 64_B);
}

TEST(BestFitTest, WaitingBlocksAreNotGivenOut) {
  BestFit fit;
  const SegmentId segment = fit.AddSegment(0x1000, 64_B, BlockState::kFree);
  const BlockId block = fit.Allocate(64_B);
  fit.SetWaiting(block);
  EXPECT_FALSE(fit.Allocate(1_B));
  EXPECT_EQ(fit.Sum(BlockState::kWaiting), 64_B);
  EXPECT_FALSE(fit.RemoveSegment(segment));
  fit.Free(block);
  EXPECT_TRUE(fit.RemoveSegment(segment));
}

TEST(BestFitTest, OnlyMappedPartsAreGivenOut) {
  BestFit fit;
  const SegmentId segment = fit.AddSegment(0x1000, 0x1000_B, BlockState::kUnmapped);
  EXPECT_FALSE(fit.Allocate(1_B));
  fit.Map(fit[segment].first, 0x1400, 0x200_B);
  EXPECT_EQ(BeginOf(fit, fit.Allocate(0x100_B)), 0x1400u);
  EXPECT_FALSE(fit.Allocate(0x101_B));
  const BlockId rest = fit.Fitting(0x100_B);
  fit.Unmap(rest, 0x1500, 0x100_B);
  EXPECT_EQ(fit.Sum(BlockState::kUnmapped), 0xf00_B);
  EXPECT_EQ(fit.FirstBrokenLaw(), nullptr);
}

TEST(BestFitTest, AnAddressLeadsToItsSegment) {
  BestFit fit;
  const SegmentId segment = fit.AddSegment(0x1000, 64_B, BlockState::kFree);
  EXPECT_EQ(fit.Find(0x1000), segment);
  EXPECT_EQ(fit.Find(0x103f), segment);
  EXPECT_FALSE(fit.Find(0x1040));
  EXPECT_FALSE(fit.Find(0xfff));
}

TEST(BestFitTest, AFullTableRefusesAndChangesNothing) {
  BestFit fit(2, 1);
  const SegmentId segment = fit.AddSegment(0x1000, 100_B, BlockState::kUnmapped);
  EXPECT_FALSE(fit.AddSegment(0x2000, 100_B, BlockState::kFree));
  EXPECT_FALSE(fit.Map(fit[segment].first, 0x1010, 10_B));
  EXPECT_EQ(fit.Sum(BlockState::kUnmapped), 100_B);
  EXPECT_EQ(fit.FirstBrokenLaw(), nullptr);
  EXPECT_TRUE(fit.Map(fit[segment].first, 0x1000, 10_B));
  EXPECT_FALSE(fit.Allocate(5_B));
  EXPECT_TRUE(fit.Allocate(10_B));
}

class BestFitModelTest : public ::testing::TestWithParam<std::uint32_t> {};

void RunRandom(std::uint32_t seed, std::uint32_t most_blocks, std::uint32_t most_segments) {
  std::mt19937 random(seed);
  std::vector<BestFitModel::Instruction> instructions(3'000);
  for (auto& instruction : instructions)
    instruction = {static_cast<std::uint8_t>(random()), static_cast<std::uint16_t>(random()),
                   static_cast<std::uint16_t>(random() >> random() % 16)};
  BestFitModel model(most_blocks, most_segments);
  EXPECT_EQ(model.Run(instructions), "");
  EXPECT_EQ(model.End(), "");
}

TEST_P(BestFitModelTest, DoesWhatTheModelDoes) { RunRandom(GetParam(), 1u << 20, 1u << 10); }

TEST_P(BestFitModelTest, DoesSoWithTablesThatAreOftenFull) { RunRandom(GetParam(), 24, 6); }

INSTANTIATE_TEST_SUITE_P(Seeds, BestFitModelTest,
                         ::testing::ValuesIn(cuheap::testing::Seeds({1, 2, 3, 4, 5, 6, 7, 8})));

}  // namespace
}  // namespace cuheap::core
