// The log of driver calls in a file (CUHEAP_SIM_LOG), in processes of their own.
#include <cuda.h>
#include <gmock/gmock.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include "tests/sim/tests/child.h"

namespace cuheap::sim {
namespace {

class CallLogFileTest : public ::testing::Test {
 protected:
  void SetUp() override {
    path_ = ::testing::TempDir() + "cuheap_sim_" + std::to_string(getpid()) + ".log";
    setenv("CUHEAP_SIM_LOG", path_.c_str(), 1);
  }
  void TearDown() override {
    unsetenv("CUHEAP_SIM_LOG");
    std::remove(path_.c_str());
  }
  std::vector<std::string> Lines() const {
    std::ifstream file(path_);
    std::vector<std::string> lines;
    for (std::string line; std::getline(file, line);) lines.push_back(line);
    return lines;
  }

  std::string path_;
};

bool Open() {
  CUcontext context = nullptr;
  return cuInit(0) == CUDA_SUCCESS && cuDevicePrimaryCtxRetain(&context, 0) == CUDA_SUCCESS &&
         cuCtxSetCurrent(context) == CUDA_SUCCESS;
}

TEST_F(CallLogFileTest, HasOneLineForEachCall) {
  EXPECT_EQ(0, ExitOf([] {
              CHILD_NEEDS(Open());
              CUdeviceptr block = 0;
              CHILD_NEEDS(cuMemAlloc(&block, 0) == CUDA_ERROR_INVALID_VALUE);
              return 0;
            }));
  const std::vector<std::string> lines = Lines();
  ASSERT_EQ(4U, lines.size());
  EXPECT_THAT(lines[3], ::testing::MatchesRegex(
                            "[0-9]+ [0-9]+ cuMemAlloc_v2\\(0x[0-9a-f]+, 0\\) = 1 [0-9]+ ns"));
}

TEST_F(CallLogFileTest, HasTheCallsOfAForkedChildUnderItsOwnNumber) {
  EXPECT_EQ(0, ExitOf([] {
              CHILD_NEEDS(Open());
              return ExitOf([] {
                CHILD_NEEDS(cuCtxSynchronize() == CUDA_ERROR_NOT_INITIALIZED);
                return 0;
              });
            }));
  const std::vector<std::string> lines = Lines();
  ASSERT_EQ(4U, lines.size());
  EXPECT_NE(std::string::npos, lines[3].find(" cuCtxSynchronize() = 3 ")) << lines[3];
  const auto process = [](const std::string& line) { return line.substr(0, line.find(' ')); };
  EXPECT_EQ(process(lines[0]), process(lines[2]));
  EXPECT_NE(process(lines[0]), process(lines[3]));
}

TEST_F(CallLogFileTest, AFileThatCannotBeOpenedIsNamedAndChangesNothing) {
  setenv("CUHEAP_SIM_LOG", "/nowhere/calls.log", 1);
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(0, ExitOf([] { return Open() ? 0 : 1; }));
  EXPECT_EQ("cuheap-sim: CUHEAP_SIM_LOG: /nowhere/calls.log: No such file or directory\n",
            ::testing::internal::GetCapturedStderr());
}

}  // namespace
}  // namespace cuheap::sim
