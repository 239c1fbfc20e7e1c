// contract_test: the promises of a CUDA device.
//   contract_test [--gtest_...]     every promise and every fact as a test
//   contract_test --differences     promises as tests, then a table of the facts that differ
//   contract_test --fact NAME       one fact, asked in this process
#include <gtest/gtest.h>

#include <cstdio>
#include <cstring>

#include "tests/contract/driver_functions.h"
#include "tests/contract/facts.h"
#include "tests/contract/runtime_functions.h"

namespace contract = cuheap::contract;

int main(int argc, char** argv) {
  const char* reason = nullptr;
  if (!contract::DriverIsThere(&reason)) {
    std::fprintf(stderr, "contract_test: no CUDA driver: %s\n", reason);
    return 2;
  }
  if (argc == 3 && std::strcmp(argv[1], "--fact") == 0) return contract::PrintFact(argv[2]);
  const bool differences = argc == 2 && std::strcmp(argv[1], "--differences") == 0;
  ::testing::InitGoogleTest(&argc, argv);
  if (!differences) return RUN_ALL_TESTS();
  GTEST_FLAG_SET(filter, "-Device/Facts.*");
  if (!contract::RuntimeIsThere()) {
    std::printf("contract_test: no libcudart.so.13 here: the runtime's face is skipped\n");
  }
  const int failed = RUN_ALL_TESTS();
  return contract::PrintDifferences() > 0 ? 1 : failed;
}
