#include "tools/analysis/report.h"

#include <gtest/gtest.h>

#include "tests/tools/trace_maker.h"
#include "tools/analysis/culprit.h"
#include "tools/render/text.h"

namespace cuheap {
namespace {

using analysis::Confidence;
using analysis::Report;
using analysis::SiteRow;
using analysis::Verdict;
using format::Heap;

constexpr std::uint64_t kMiB = 1 << 20;

// A training job: weights, optimizer state born in its first step, a ring of three, a leak of one
// block a step.
class Job {
 public:
  void Run(std::uint64_t steps, bool leaks) {
    maker.ledger().UsedSample(DeviceId{0}, Bytes(64 * kMiB), 4_GiB);
    const SiteId weights = maker.Site(Heap::k_driver, {"model.py", "__init__", 3});
    const SiteId state = maker.Site(
        Heap::k_driver, {"/usr/lib/python3/dist-packages/torch/optim/adam.py", "step", 99});
    const SiteId ring = maker.Site(Heap::k_driver, {"train.py", "train", 20});
    const SiteId leak = maker.Site(Heap::k_driver, {"train.py", "train", 14});
    for (std::uint64_t i = 0; i < 10; ++i)
      maker.Alloc(Heap::k_driver, (1000 + i) << 20, kMiB, weights);
    for (std::uint64_t step = 0; step < steps; ++step) {
      for (std::uint64_t i = 0; step == 0 && i < 20; ++i)
        maker.Alloc(Heap::k_driver, (2000 + i) << 20, kMiB, state);
      maker.Alloc(Heap::k_driver, (3000 + step) << 20, kMiB, ring);
      if (step >= 3) maker.Free(Heap::k_driver, (3000 + step - 3) << 20);
      if (leaks) maker.Alloc(Heap::k_driver, (10000 + 8 * step) << 20, 4 * kMiB, leak);
      maker.Step();
    }
  }
  // What a framework does at its exit.
  void FreeTheLeak(std::uint64_t steps) {
    for (std::uint64_t step = 0; step < steps; ++step)
      maker.Free(Heap::k_driver, (10000 + 8 * step) << 20);
  }

  TraceMaker maker;
};

struct Made {
  explicit Made(trace::Trace read, const analysis::ReportOptions& options = {})
      : trace(std::move(read)),
        frames(trace),
        report(*analysis::MakeReport(trace, options, &frames)) {}
  const SiteRow& At(const std::string& place) const {
    for (const SiteRow& row : report.sites) {
      if (row.place == place) return row;
    }
    static const SiteRow none{};
    ADD_FAILURE() << "no site " << place;
    return none;
  }
  trace::Trace trace;
  trace::TraceFrames frames;
  Report report;
};

TEST(ReportTest, TheLeakAndOnlyTheLeakGrows) {
  Job job;
  job.Run(200, true);
  const Made made(job.maker.Finish());
  ASSERT_EQ(made.report.with(Verdict::kGrowing).size(), 1u);
  const SiteRow& leak = made.At("train.py:14");
  EXPECT_EQ(leak.judgement.verdict, Verdict::kGrowing);
  EXPECT_EQ(leak.judgement.confidence, Confidence::kHigh);
  EXPECT_EQ(leak.why,
            "train.py:14 keeps one more 4.0 MiB block each step, 200 of 200 steps, nothing freed");
  EXPECT_DOUBLE_EQ(leak.judgement.slope, 4.0 * kMiB);
  EXPECT_EQ(leak.surviving_steps, 200u);
  EXPECT_EQ(leak.samples.size(), 3u);
  EXPECT_EQ(made.At("model.py:3").judgement.verdict, Verdict::kHeld);
  EXPECT_EQ(made.At("adam.py:99").judgement.verdict, Verdict::kHeld);
  EXPECT_EQ(made.At("train.py:20").judgement.verdict, Verdict::kSteady);
}

TEST(ReportTest, ALeakThatIsFreedAtExitIsJudgedAtTheLastStepEnd) {
  Job job;
  job.Run(200, true);
  job.FreeTheLeak(200);
  const Made made(job.maker.Finish());
  EXPECT_EQ(made.At("train.py:14").judgement.verdict, Verdict::kGrowing);
  EXPECT_EQ(made.At("train.py:14").live_blocks, 200u);
  EXPECT_EQ(made.At("train.py:14").judgement.confidence, Confidence::kHigh);
  EXPECT_TRUE(made.At("train.py:14").why.ends_with("nothing freed")) << "by then";
}

TEST(ReportTest, AHealthyJobFlagsNothing) {
  Job job;
  job.Run(200, false);
  const Made made(job.maker.Finish());
  EXPECT_TRUE(made.report.with(Verdict::kGrowing).empty());
  EXPECT_TRUE(made.report.with(Verdict::kLate).empty());
  EXPECT_TRUE(render::VerdictLine(made.report).starts_with("no leak found"))
      << render::VerdictLine(made.report);
}

TEST(ReportTest, AFileThatLostBlocksIsNeverCalledFreeOfLeaks) {
  Job job;
  job.Run(200, false);
  Made made(job.maker.Finish());
  made.trace.completeness.cut = true;
  EXPECT_TRUE(render::VerdictLine(made.report).starts_with("no leak in what is left of the file"))
      << render::VerdictLine(made.report);
}

TEST(ReportTest, AShortRunIsNotJudged) {
  Job job;
  job.Run(40, true);
  const Made made(job.maker.Finish());
  EXPECT_EQ(made.At("train.py:14").judgement.verdict, Verdict::kLate);
  EXPECT_TRUE(render::VerdictLine(made.report).starts_with("too short to judge"));
}

TEST(ReportTest, BelowTwoHundredStepsConfidenceIsMedium) {
  Job job;
  job.Run(180, true);
  const Made made(job.maker.Read());
  EXPECT_EQ(made.At("train.py:14").judgement.verdict, Verdict::kGrowing);
  EXPECT_EQ(made.At("train.py:14").judgement.confidence, Confidence::kMedium);
}

TEST(ReportTest, TheDeviceIsFullInTheStepsThatItsFreeMemoryLasts) {
  Job job;
  job.Run(200, true);
  const Made made(job.maker.Finish());
  ASSERT_TRUE(made.report.full_in_steps[0].has_value());
  // The driver's figure, 64 MiB, is older than most of what was taken.
  const std::uint64_t taken = made.report.balances[0].reserved() / kMiB;
  ASSERT_GE(taken, 800u);
  EXPECT_EQ(*made.report.full_in_steps[0], (4096u - taken) / 4u);
}

TEST(ReportTest, AWorkspaceThatGrowsIsNoLeak) {
  TraceMaker maker;
  const SiteId workspace = maker.Site(Heap::k_driver, {"linear.py", "forward", 5});
  for (std::uint64_t step = 0; step < 200; ++step) {
    maker.Alloc(Heap::k_driver, (1 + step) << 30, kMiB, workspace, format::kWorkspace);
    maker.Step();
  }
  const Made made(maker.Finish());
  EXPECT_EQ(made.At("linear.py:5").judgement.verdict, Verdict::kWorkspace);
}

TEST(ReportTest, WorkspacesAreKnownByTheFunctionsThatMakeThem) {
  EXPECT_EQ(analysis::WorkspaceFunction({{"at::cuda::getWorkspaceSize", "", 0, false}}),
            "at::cuda::getWorkspaceSize");
  EXPECT_EQ(analysis::WorkspaceFunction({{"a", "", 0, false}, {"cublasCreate_v2", "", 0, false}}),
            "cublasCreate_v2");
  EXPECT_EQ(analysis::WorkspaceFunction({{"forward", "model.py", 3, true}}), "");
}

TEST(ReportTest, WithoutAUsersFrameTheBackwardFunctionIsNamed) {
  const std::string apply =
      "torch::autograd::generated::AddmmBackward0::apply(std::vector<at::Tensor>&&)+0x12";
  EXPECT_EQ(
      analysis::PlaceOf({{"malloc(unsigned long)+0x1", "/x/libc10_cuda.so", 0, false},
                         {"at::_ops::mm::redispatch(int)+0xd2", "/x/libtorch_cpu.so", 0, false},
                         {apply, "/x/libtorch_cpu.so", 0, false}}),
      "torch::autograd::generated::AddmmBackward0::apply");
  EXPECT_EQ(analysis::ShortFunction("at::(anonymous namespace)::f<int, g<h>>(long)+0x1"),
            "at::(anonymous namespace)::f");
  EXPECT_EQ(analysis::ShortFunction("C.f.<locals>.<listcomp>"), "C.f.<locals>.<listcomp>");
}

TEST(ReportTest, TheUsersOwnFrameIsNamed) {
  const std::vector<trace::Frame> frames = {
      {"linear", "/x/site-packages/torch/nn/functional.py", 9, true},
      {"forward", "/home/u/model.py", 12, true}};
  EXPECT_EQ(analysis::PlaceOf(frames), "model.py:12");
  EXPECT_EQ(analysis::PlaceOf({frames[0]}), "functional.py:9");
}

TEST(ReportTest, AFileWithoutOneCallSaysNotAttached) {
  TraceMaker maker;
  const Made made(maker.Finish());
  EXPECT_FALSE(made.report.attached);
  EXPECT_TRUE(render::VerdictLine(made.report).starts_with("not attached"));
  EXPECT_EQ(render::Text(made.report, {}).find("no leak"), std::string::npos);
}

TEST(ReportTest, WhatIsMissingIsSaidBeforeAnythingElse) {
  Job job;
  job.Run(10, false);
  trace::Trace trace = job.maker.Read();
  trace.completeness.running = false;
  const Made made(std::move(trace));
  EXPECT_FALSE(made.report.complete);
  EXPECT_TRUE(render::Text(made.report, {})
                  .starts_with("the process did not close the file: last record at "));
}

TEST(ReportTest, InstantsThatAreNotThereAreNamed) {
  Job job;
  job.Run(100, false);
  const trace::Trace trace = job.maker.Finish();
  trace::TraceFrames frames(trace);
  EXPECT_FALSE(analysis::MakeReport(trace, {*analysis::At::Parse("oom"), {}, {}}, &frames).ok());
  EXPECT_FALSE(analysis::MakeReport(trace, {*analysis::At::Parse("mark:x"), {}, {}}, &frames).ok());
  EXPECT_FALSE(analysis::At::Parse("nonsense").ok());
  EXPECT_FALSE(analysis::At::Parse("step:x").ok());
  const Result<Report> near =
      analysis::MakeReport(trace, {*analysis::At::Parse("step:51"), {}, {}}, &frames);
  ASSERT_TRUE(near.ok());
  EXPECT_NEAR(static_cast<double>(near->view.moment().step), 51, 4);
}

TEST(ReportTest, UntrackedMemoryThatGrowsIsANote) {
  TraceMaker maker;
  const SiteId site = maker.Site(Heap::k_driver, {"a.py", "f", 1});
  maker.Alloc(Heap::k_driver, 1u << 30, kMiB, site);
  for (std::uint64_t step = 0; step < 200; ++step) {
    maker.ledger().UsedSample(DeviceId{0}, Bytes((100 + step) * kMiB), 4_GiB);
    maker.Step();
  }
  const Made made(maker.Finish());
  ASSERT_TRUE(made.report.untracked_growth[0].has_value());
  EXPECT_NEAR(*made.report.untracked_growth[0], kMiB, kMiB / 100.0);
}

}  // namespace
}  // namespace cuheap
