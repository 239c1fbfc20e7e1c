// The log of driver calls in memory.
#include "tests/sim/testing/call_log.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <thread>

#include "tests/sim/tests/child.h"
#include "tests/sim/tests/machine.h"

namespace cuheap::sim {
namespace {

using CallLogTest = Machine;

TEST_F(CallLogTest, ACallIsKeptWithItsArgumentsItsResultAndItsThread) {
  const CallLog log;
  CUdeviceptr block = 0;
  ASSERT_CUDA(cuMemAlloc(&block, 3 * kMiB));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemAlloc(&block, 0));
  ASSERT_CUDA(cuMemFree(block));
  ASSERT_EQ(2U, log.Count("cuMemAlloc"));
  const LoggedCall first = log.Calls("cuMemAlloc")[0];
  EXPECT_EQ("cuMemAlloc", first.function);
  EXPECT_EQ("cuMemAlloc_v2", first.symbol);
  EXPECT_EQ((std::vector<std::uint64_t>{reinterpret_cast<std::uintptr_t>(&block), 3 * kMiB}),
            first.arguments);
  EXPECT_EQ(CUDA_SUCCESS, first.result);
  EXPECT_EQ(syscall(SYS_gettid), first.thread);
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, log.Calls("cuMemAlloc_v2")[1].result);
  EXPECT_EQ(block, log.Calls("cuMemFree")[0].arguments[0]);
  EXPECT_EQ(0U, log.Count("cuMemAllocManaged"));
}

TEST_F(CallLogTest, ATimeIsKeptThatContainsWhatTheCallDid) {
  const CallLog log;
  const auto nested = [](void*) { EXPECT_EQ(CUDA_ERROR_NOT_PERMITTED, cuCtxSynchronize()); };
  ASSERT_CUDA(cuLaunchHostFunc(nullptr, nested, nullptr));
  ASSERT_CUDA(cuStreamSynchronize(nullptr));
  const LoggedCall outer = log.Calls("cuLaunchHostFunc").at(0);
  EXPECT_GT(outer.start_ns, 0U);
  EXPECT_GT(outer.duration_ns, 0U);
  const LoggedCall after = log.Calls("cuStreamSynchronize").at(0);
  EXPECT_GE(after.start_ns, outer.start_ns + outer.duration_ns);
}

TEST_F(CallLogTest, AMarkCutsOffWhatWasBefore) {
  const CallLog log;
  EXPECT_CUDA(cuCtxSynchronize());
  const CallLog::Mark mark = log.Now();
  EXPECT_TRUE(log.Since(mark).empty());
  const CUdeviceptr block = Alloc(64);
  EXPECT_CUDA(cuMemFree(block));
  EXPECT_EQ(2U, log.Since(mark).size()) << log.Since(mark);
  EXPECT_EQ(1U, log.Since(mark).Count("cuMemFree"));
  EXPECT_EQ(3U, log.All().size());
}

TEST_F(CallLogTest, NothingIsKeptWithoutALogAndANewOneIsEmpty) {
  { const CallLog log; }
  EXPECT_CUDA(cuCtxSynchronize());
  const CallLog log;
  EXPECT_TRUE(log.All().empty()) << log.All();
}

TEST_F(CallLogTest, CallsOfAllThreadsAreKept) {
  const CallLog log;
  const auto work = [this] {
    EXPECT_CUDA(cuCtxSetCurrent(context_));
    for (int i = 0; i < 200; ++i) EXPECT_CUDA(cuCtxSynchronize());
  };
  std::thread first(work);
  std::thread second(work);
  first.join();
  second.join();
  EXPECT_EQ(400U, log.Count("cuCtxSynchronize"));
  EXPECT_NE(log.Calls("cuCtxSetCurrent")[0].thread, log.Calls("cuCtxSetCurrent")[1].thread);
}

TEST_F(CallLogTest, CallsThatFailOnPurposeAndThoseTheGateRefusesAreKept) {
  const CallLog log;
  ASSERT_EQ(0, cuheap_sim_fail("cuCtxSynchronize", 1, CUDA_ERROR_UNKNOWN));
  EXPECT_EQ(CUDA_ERROR_UNKNOWN, cuCtxSynchronize());
  cuheap_sim_clear_faults();
  EXPECT_EQ(CUDA_ERROR_UNKNOWN, log.Calls("cuCtxSynchronize")[0].result);
  EXPECT_EQ(0, ExitOf([&] {
              CHILD_NEEDS(cuCtxSynchronize() == CUDA_ERROR_NOT_INITIALIZED);
              CHILD_NEEDS(log.Calls("cuCtxSynchronize").at(1).result == CUDA_ERROR_NOT_INITIALIZED);
              return 0;
            }));
  EXPECT_EQ(1U, log.Count("cuCtxSynchronize"));
}

TEST_F(CallLogTest, PrintsOneLineForEachCall) {
  const CallLog log;
  EXPECT_CUDA(cuCtxSetCurrent(context_));
  std::ostringstream text;
  text << log.All();
  std::ostringstream expected;
  expected << syscall(SYS_gettid) << " cuCtxSetCurrent(" << context_ << ") = 0\n";
  EXPECT_EQ(expected.str(), text.str());
}

thread_local bool holds_a_lock = false;

TEST_F(CallLogTest, AQuestionOfTheTestIsAnsweredAtEveryCall) {
  const CallLog log;
  cuheap_sim_log_ask([] { return holds_a_lock ? 1 : 0; });
  EXPECT_CUDA(cuCtxSynchronize());
  holds_a_lock = true;
  EXPECT_CUDA(cuCtxSynchronize());
  std::thread([&] { EXPECT_CUDA(cuCtxSetCurrent(context_)); }).join();
  holds_a_lock = false;
  cuheap_sim_log_ask(nullptr);
  EXPECT_CUDA(cuCtxSynchronize());
  std::vector<int> answers;
  for (const LoggedCall& call : log.All()) answers.push_back(call.answer);
  EXPECT_EQ(answers, (std::vector<int>{0, 1, 0, 0}));
}

}  // namespace
}  // namespace cuheap::sim
