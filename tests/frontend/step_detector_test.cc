#include "allocator/frontend/step_detector.h"

#include <gtest/gtest.h>

#include <vector>

namespace cuheap {
namespace {

enum Signal { kOptimizer = 0, kBackward = 1, kModule = 2 };

// A program as its allocations show it: what each one has on its stack.
class StepDetectorTest : public ::testing::Test {
 protected:
  static StackFacts With(std::initializer_list<std::pair<Signal, std::uint64_t>> present) {
    StackFacts facts;
    for (const auto& [signal, place] : present) facts.call_sites[signal] = place;
    return facts;
  }
  void Allocate(const StackFacts& facts, ThreadSteps* thread) {
    FrameTicks ticked;
    detector_.Observe(thread, facts, &ticked);
    for (std::size_t i = 0; i < ticked.size(); ++i) ticks_[i] += ticked[i] ? 1 : 0;
  }
  void Allocate(std::initializer_list<std::pair<Signal, std::uint64_t>> present) {
    Allocate(With(present), &main_);
  }
  void TrainingStep(std::uint64_t optimizer = 30) {
    Allocate({{kModule, 10}});
    Allocate({{kModule, 10}});
    Allocate({});  // the loss
    Allocate({{kBackward, 20}});
    Allocate({{kOptimizer, optimizer}});
    Allocate({{kOptimizer, optimizer}});
  }

  StepDetector detector_;
  ThreadSteps main_;
  std::array<int, kFrameSignals> ticks_{};
};

TEST_F(StepDetectorTest, EverySignalOfATrainingLoopTicksOnceAStep) {
  for (int i = 0; i < 10; ++i) TrainingStep();
  Allocate({});
  EXPECT_EQ(ticks_[kOptimizer], 10);
  EXPECT_EQ(ticks_[kBackward], 10);
  EXPECT_EQ(ticks_[kModule], 10);
}

TEST_F(StepDetectorTest, AStepEndsOnlyWhenAnAllocationNoLongerHasTheFrame) {
  Allocate({{kOptimizer, 30}});
  EXPECT_EQ(ticks_[kOptimizer], 0);
  Allocate({{kOptimizer, 30}});
  EXPECT_EQ(ticks_[kOptimizer], 0);
  Allocate({});
  EXPECT_EQ(ticks_[kOptimizer], 1);
  Allocate({});
  EXPECT_EQ(ticks_[kOptimizer], 1);
}

TEST_F(StepDetectorTest, AnExceptionLeavesTheFrameLikeAReturn) {
  Allocate({{kModule, 10}});
  Allocate({});  // the handler
  EXPECT_EQ(ticks_[kModule], 1);
}

TEST_F(StepDetectorTest, NestedModulesAreOneCall) {
  // The outermost call site stays the same, whatever happens inside.
  for (int i = 0; i < 5; ++i) Allocate({{kModule, 10}});
  Allocate({});
  EXPECT_EQ(ticks_[kModule], 1);
}

TEST_F(StepDetectorTest, AClosureInsideAnOptimizerDoesNotEndItsStep) {
  Allocate({{kOptimizer, 30}});
  Allocate({{kOptimizer, 30}, {kModule, 31}});
  Allocate({{kOptimizer, 30}, {kBackward, 32}});
  Allocate({{kOptimizer, 30}});
  EXPECT_EQ(ticks_[kOptimizer], 0);
  Allocate({});
  EXPECT_EQ(ticks_[kOptimizer], 1);
}

TEST_F(StepDetectorTest, OfTwoOptimizersInALoopTheFirstLeads) {
  for (int i = 0; i < 20; ++i) {
    TrainingStep(30);
    Allocate({});
    Allocate({{kOptimizer, 40}});
  }
  Allocate({});
  EXPECT_EQ(ticks_[kOptimizer], 20);
}

TEST_F(StepDetectorTest, TwoOptimizersWithoutAnythingBetweenThemAreToldApart) {
  for (int i = 0; i < 20; ++i) {
    Allocate({{kModule, 10}});
    Allocate({{kOptimizer, 30}});
    Allocate({{kOptimizer, 40}});
  }
  EXPECT_EQ(ticks_[kOptimizer], 20);
}

TEST_F(StepDetectorTest, WithGradientAccumulationBackwardCountsMicroSteps) {
  for (int i = 0; i < 5; ++i) {
    for (int micro = 0; micro < 4; ++micro) {
      Allocate({{kModule, 10}});
      Allocate({{kBackward, 20}});
    }
    Allocate({{kOptimizer, 30}});
  }
  Allocate({});
  EXPECT_EQ(ticks_[kBackward], 20);
  EXPECT_EQ(ticks_[kOptimizer], 5);
}

TEST_F(StepDetectorTest, TheThreadThatTicksFirstOwnsTheClock) {
  ThreadSteps other;
  for (int i = 0; i < 20; ++i) {
    TrainingStep();
    Allocate(With({{kModule, 10}}), &other);
    Allocate(With({}), &other);
  }
  Allocate({});
  EXPECT_EQ(ticks_[kModule], 20);
}

TEST_F(StepDetectorTest, AnotherLoopTakesOverWhenTheLeaderIsSilent) {
  for (int i = 0; i < 3; ++i) {
    Allocate({{kOptimizer, 30}});
    Allocate({});
  }
  for (std::uint32_t i = 0; i < StepDetector::kTakeOver + 10; ++i) {
    Allocate({{kOptimizer, 50}});
    Allocate({});
  }
  EXPECT_EQ(ticks_[kOptimizer], 3 + 11);
}

TEST_F(StepDetectorTest, MoreContendersThanAreKeptDoNotTick) {
  Allocate({{kModule, 10}});
  for (std::uint64_t round = 0; round < 7; ++round)
    for (std::uint64_t site = 100; site < 140; ++site) Allocate({{kModule, site}});
  EXPECT_EQ(ticks_[kModule], 1);
}

TEST_F(StepDetectorTest, AStackThatWasCutEndsNothing) {
  Allocate({{kOptimizer, 30}});
  StackFacts cut;
  cut.call_sites.fill(StackFacts::kUnknown);
  Allocate(cut, &main_);
  EXPECT_EQ(ticks_[kOptimizer], 0);
  Allocate({});
  EXPECT_EQ(ticks_[kOptimizer], 1);
}

TEST_F(StepDetectorTest, InferenceTicksByTheOutermostModuleCall) {
  for (int i = 0; i < 7; ++i) {
    Allocate({{kModule, 10}});
    Allocate({});
  }
  EXPECT_EQ(ticks_[kModule], 7);
  EXPECT_EQ(ticks_[kOptimizer] + ticks_[kBackward], 0);
}

}  // namespace
}  // namespace cuheap
