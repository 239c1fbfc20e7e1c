// A walk over the failures of a scenario: it runs with its first driver call failing, then with its
// second, and so on to a run in which no call failed; all of that for each code. What must hold
// after a failure is the scenario's to assert; the walk says which call had failed when it did not.
//
//   FailEachCall({CUDA_ERROR_OUT_OF_MEMORY}, [&] { pool.Allocate(kMiB); ExpectNothingLeaks(); });
//
// Calls are those of the whole process, so no other thread should make any meanwhile. The faults of
// the process (sim_api.h) are cleared before and after each run.
#pragma once

#include <cuda.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <initializer_list>

#include "tests/sim/engine/sim_api.h"

namespace cuheap::sim {

// One run, inside a test. False: its calls ended before number `call`, so none failed.
template <class Scenario>
bool RunWithFault(std::uint64_t call, CUresult code, Scenario& scenario) {
  const auto parts_failed = [] {
    return ::testing::UnitTest::GetInstance()->current_test_info()->result()->total_part_count();
  };
  const int before = parts_failed();
  cuheap_sim_clear_faults();
  EXPECT_EQ(0, cuheap_sim_fail(nullptr, call, code)) << "code " << code;
  scenario();
  const bool fired = cuheap_sim_faults_fired() != 0;
  const char* function = cuheap_sim_last_faulted();
  cuheap_sim_clear_faults();
  if (parts_failed() != before) {
    ADD_FAILURE() << "the above with call " << call << ", " << (fired ? function : "not reached")
                  << ", failing with " << code;
  }
  return fired;
}

// How many calls failed, over all codes: what a test asserts to know that the walk went somewhere.
template <class Scenario>
std::uint64_t FailEachCall(std::initializer_list<CUresult> codes, Scenario scenario) {
  constexpr std::uint64_t kEndless = 100'000;
  std::uint64_t failed = 0;
  for (const CUresult code : codes) {
    std::uint64_t call = 1;
    while (call < kEndless && RunWithFault(call, code, scenario)) ++call;
    EXPECT_LT(call, kEndless) << "a scenario that tries again without end";
    failed += call - 1;
  }
  return failed;
}

}  // namespace cuheap::sim
