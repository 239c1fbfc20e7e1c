// Processes: without CUDA, forked, ending in every way; and the program's own words.
#include "tests/hooks/victims.h"

namespace cuheap::testing {
namespace {

class LifeTest : public VictimTest {
 protected:
  bool FolderHoldsOnlyTheRun() const {
    for (const auto& entry : std::filesystem::directory_iterator(folder_)) {
      const std::string name = entry.path().filename();
      if (name != "run.sh" && name != "output" && name != "errors") return false;
    }
    return true;
  }
};

TEST_F(LifeTest, AProcessWithoutCudaLeavesNoFileAndSaysNothing) {
  const Outcome outcome =
      RunBothWays("/bin/true; echo one | cat; ls / | wc -l; exec python3 -c 'print(2)'");
  EXPECT_EQ(outcome.errors, "");
  EXPECT_TRUE(FolderHoldsOnlyTheRun());
}

TEST_F(LifeTest, AnUnknownKnobIsNoBusinessOfAProcessWithoutCuda) {
  EXPECT_EQ(Run("/bin/true", Watched::kYes, "CUHEAP_NONSENSE=1").errors, "");
}

TEST_F(LifeTest, AnUnknownKnobIsNamedOnceWhereMemoryIsWatched) {
  const std::string errors =
      Run("hook_victim malloc", Watched::kYes, "CUHEAP_NONSENSE=1 CUHEAP_LIMIT=x").errors;
  EXPECT_NE(errors.find("CUHEAP_"), std::string::npos);
  EXPECT_EQ(std::count(errors.begin(), errors.end(), '\n'), 1);
  EXPECT_EQ(Run("hook_victim malloc", Watched::kYes, "CUHEAP_NONSENSE=1 CUHEAP_QUIET=1").errors,
            "");
}

TEST_F(LifeTest, AskingForDevicesIsNotTouchingMemory) {
  RunBothWays("hook_victim no-memory");
  EXPECT_TRUE(FolderHoldsOnlyTheRun());
}

TEST_F(LifeTest, EagerBindingWorksToo) {
  EXPECT_EQ(Run("/bin/true", Watched::kYes, "LD_BIND_NOW=1").errors, "");
  EXPECT_EQ(Run("hook_victim malloc", Watched::kYes, "LD_BIND_NOW=1").status, 0);
  EXPECT_TRUE(has_trace());
}

TEST_F(LifeTest, AForkedChildIsSilentAndLeavesTheParentsTraceAlone) {
  RunBothWays("hook_victim fork");
  const trace::Trace trace = Read();
  EXPECT_TRUE(trace.completeness.clean_close);
  EXPECT_EQ(trace.blocks.size(), 2u);
  EXPECT_EQ(Live().size(), 1u);
  EXPECT_EQ(trace.dropped.unknown_frees, 0u);
}

TEST_F(LifeTest, AProcessThatEndsAtOnceLeavesAReadableTrace) {
  RunBothWays("hook_victim exit-at-once");
  const trace::Trace trace = Read();
  EXPECT_FALSE(trace.completeness.clean_close);
  EXPECT_EQ(Live().size(), 1u);
}

TEST_F(LifeTest, AFreeAfterTheEndIsNoTrouble) {
  RunBothWays("hook_victim late-free");
  EXPECT_TRUE(Read().completeness.clean_close);
}

TEST_F(LifeTest, AResetDeviceHoldsNothing) {
  RunBothWays("hook_victim reset");
  EXPECT_EQ(Live().size(), 1u) << "what came after the reset";
}

TEST_F(LifeTest, BlocksBornDuringACaptureSaySo) {
  RunBothWays("hook_victim capture");
  const trace::Trace trace = Read();
  for (const trace::Block& block : trace.blocks)
    EXPECT_EQ((block.flags & format::kInCapture) != 0, block.block_bytes == 1u << 20);
  EXPECT_GE(trace.devices[0].last.used_bytes, 3u << 20) << "asked after the capture, not in it";
}

TEST_F(LifeTest, StepsAndMarksOfACProgramAreKept) {
  EXPECT_EQ(Run("app_steps").output, "0.1.0\n");
  const trace::Trace trace = Read();
  EXPECT_EQ(trace.clock, format::Signal::k_program);
  EXPECT_EQ(trace.steps, 40u);
  EXPECT_TRUE(std::any_of(trace.marks.begin(), trace.marks.end(), [](const trace::Mark& mark) {
    return mark.kind == format::MarkKind::kUser && mark.name == "half" && mark.step == 20;
  }));
  EXPECT_EQ(Live().size(), 40u);
}

TEST_F(LifeTest, TheWordsOfAProgramDoNothingWithoutTheCore) {
  EXPECT_EQ(Run("app_steps", Watched::kNo).output, "alone\n");
  EXPECT_EQ(Run("app_words", Watched::kNo).output, "alone\n");
  EXPECT_EQ(Run("app_words").output, "watched\n");
  EXPECT_TRUE(FolderHoldsOnlyTheRun());
}

TEST_F(LifeTest, WhatIsOffIsOff) {
  EXPECT_EQ(Run("hook_victim malloc", Watched::kYes, "CUHEAP_OFF=1").status, 0);
  EXPECT_TRUE(FolderHoldsOnlyTheRun());
}

TEST_F(LifeTest, ExecGivesTheNewProgramATraceOfItsOwn) {
  Run("exec hook_victim malloc");
  EXPECT_TRUE(has_trace());
}

}  // namespace
}  // namespace cuheap::testing
