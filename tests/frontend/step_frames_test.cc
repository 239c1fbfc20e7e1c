#include "allocator/frontend/step_frames.h"

#include <gtest/gtest.h>

#include <vector>

namespace cuheap {
namespace {

constexpr char kSite[] = "/v/lib/python3.11/site-packages/torch/";

FrameRole Role(const std::string& path, std::string_view function) {
  return RoleOf(kSite + path, function);
}

TEST(FrameRoleTest, StepsOfTorchsOptimizersAreOptimizers) {
  EXPECT_EQ(Role("optim/adamw.py", "AdamW.step"), FrameRole::kOptimizer);
  EXPECT_EQ(Role("optim/sgd.py", "step"), FrameRole::kOptimizer);
  EXPECT_EQ(Role("optim/_muon.py", "Muon.step"), FrameRole::kOptimizer);
}

TEST(FrameRoleTest, AnOptimizerOfAnotherPackageShowsAsTheWrapperOfTheBaseClass) {
  EXPECT_EQ(Role("optim/optimizer.py", "Optimizer.profile_hook_step.<locals>.wrapper"),
            FrameRole::kOptimizer);
  EXPECT_EQ(RoleOf("/v/site-packages/lion/lion.py", "Lion.step"), FrameRole::kProgram);
}

TEST(FrameRoleTest, SchedulersAreNoOptimizers) {
  EXPECT_EQ(Role("optim/lr_scheduler.py", "StepLR.step"), FrameRole::kTorch);
  EXPECT_EQ(Role("optim/lr_scheduler.py",
                 "LRScheduler.__init__.<locals>.patch_track_step_called.<locals>.wrapper"),
            FrameRole::kTorch);
}

TEST(FrameRoleTest, OtherFunctionsOfAnOptimizerAreNotItsStep) {
  EXPECT_EQ(Role("optim/adamw.py", "AdamW._init_group"), FrameRole::kTorch);
  EXPECT_EQ(Role("optim/optimizer.py", "Optimizer.zero_grad"), FrameRole::kTorch);
}

TEST(FrameRoleTest, BackwardIsTensorsAndAutograds) {
  EXPECT_EQ(Role("_tensor.py", "Tensor.backward"), FrameRole::kBackward);
  EXPECT_EQ(Role("autograd/__init__.py", "backward"), FrameRole::kBackward);
  EXPECT_EQ(RoleOf("/me/layers.py", "MyFunction.backward"), FrameRole::kProgram);
}

TEST(FrameRoleTest, AModulesCallHasTwoNames) {
  EXPECT_EQ(Role("nn/modules/module.py", "Module._wrapped_call_impl"), FrameRole::kModule);
  EXPECT_EQ(Role("nn/modules/module.py", "Module._call_impl"), FrameRole::kModule);
  EXPECT_EQ(Role("nn/modules/linear.py", "Linear.forward"), FrameRole::kTorch);
}

TEST(FrameRoleTest, AProgramInAFolderNamedTorchIsTheProgram) {
  EXPECT_EQ(RoleOf("/me/torch/train.py", "main"), FrameRole::kProgram);
}

// ---- stacks, innermost first

constexpr StepFrame kOptimizer = {FrameRole::kOptimizer, 900};
constexpr StepFrame kBackward = {FrameRole::kBackward, 901};
constexpr StepFrame kModule = {FrameRole::kModule, 902};
constexpr StepFrame kTorch = {FrameRole::kTorch, 903};
constexpr StepFrame Program(std::uint64_t place) { return {FrameRole::kProgram, place}; }

StackFacts Facts(const std::vector<StepFrame>& frames, bool cut = false) {
  return FactsOf(frames, cut);
}

TEST(StackFactsTest, TheCallSiteIsTheProgramsFrameBehindTheSignal) {
  const StackFacts facts = Facts({kTorch, kOptimizer, kOptimizer, kTorch, Program(5), Program(6)});
  EXPECT_EQ(facts.call_sites[0], 5u);
  EXPECT_EQ(facts.call_sites[1], StackFacts::kAbsent);
  EXPECT_EQ(facts.phase, format::Phase::kOptimizer);
}

TEST(StackFactsTest, TheOutermostModuleCallCounts) {
  const StackFacts facts =
      Facts({kTorch, kModule, kModule, Program(1), kModule, kModule, Program(2), Program(3)});
  EXPECT_EQ(facts.call_sites[2], 2u);
  EXPECT_EQ(facts.phase, format::Phase::kForward);
}

TEST(StackFactsTest, ThePhaseIsTheInnermostSignals) {
  // An optimizer that takes a closure runs the model inside its step.
  const StackFacts facts = Facts({kTorch, kModule, Program(1), kOptimizer, Program(2)});
  EXPECT_EQ(facts.phase, format::Phase::kForward);
  EXPECT_EQ(facts.call_sites[0], 2u);
  EXPECT_EQ(facts.call_sites[2], 1u);
}

TEST(StackFactsTest, ASignalWithoutAProgramAroundItIsPresent) {
  EXPECT_NE(Facts({kBackward}).call_sites[1], StackFacts::kAbsent);
}

TEST(StackFactsTest, ACutStackKnowsNothingToBeAbsent) {
  const StackFacts facts = Facts({kTorch, kModule, Program(4)}, true);
  EXPECT_EQ(facts.call_sites[0], StackFacts::kUnknown);
  EXPECT_EQ(facts.call_sites[1], StackFacts::kUnknown);
  EXPECT_EQ(facts.call_sites[2], StackFacts::kUnknown)
      << "the outermost module call may have been cut";
  EXPECT_EQ(Facts({kOptimizer, Program(4)}, true).call_sites[0], 4u);
}

}  // namespace
}  // namespace cuheap
