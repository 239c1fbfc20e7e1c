// The road of a static runtime, on a driver as it is and on one without the newer resolver.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>

namespace {

class StaticRuntimeTest : public testing::Test {
 protected:
  void SetUp() override {
    log_ = testing::TempDir() + "cuheap_static_runtime_" + std::to_string(getpid()) + ".log";
    setenv("LD_LIBRARY_PATH", CUHEAP_SIM_FOLDER, 1);
    setenv("CUHEAP_SIM_LOG", log_.c_str(), 1);
  }
  void TearDown() override {
    unsetenv("CUHEAP_SIM_WITHOUT");
    unsetenv("CUHEAP_SIM_DRIVER_VERSION");
    std::remove(log_.c_str());
  }

  void Run() {
    FILE* output = popen(CUHEAP_STATIC_RUNTIME, "r");
    ASSERT_NE(nullptr, output);
    char resolver[64] = "";
    char copied[8] = "";
    const int read = std::fscanf(output, "resolver=%63s asked=%d found=%d copied=%7s", resolver,
                                 &asked_, &found_, copied);
    status_ = pclose(output);
    EXPECT_EQ(4, read);
    resolver_ = resolver;
    copied_ = copied;
  }
  long Logged(const std::string& symbol) const {
    std::ifstream file(log_);
    long count = 0;
    for (std::string line; std::getline(file, line);) {
      count += line.find(" " + symbol + "(") != std::string::npos ? 1 : 0;
    }
    return count;
  }

  std::string log_;
  std::string resolver_;
  std::string copied_;
  int asked_ = 0;
  int found_ = 0;
  int status_ = -1;
};

constexpr int kQuestionsOfCuda13 = 440;
constexpr int kUses = 7;  // each asks once more

TEST_F(StaticRuntimeTest, TheNewerResolverAnswersEveryQuestionButTheEmptyName) {
  ASSERT_NO_FATAL_FAILURE(Run());
  EXPECT_EQ(0, status_);
  EXPECT_EQ("cuGetProcAddress_v2", resolver_);
  EXPECT_EQ("yes", copied_);
  EXPECT_GE(asked_, kQuestionsOfCuda13);
  EXPECT_EQ(asked_ - 1, found_);
  EXPECT_EQ(1 + asked_ + kUses, Logged("cuGetProcAddress_v2"));
  EXPECT_EQ(0, Logged("cuGetProcAddress"));
  for (const char* symbol : {"cuMemAlloc_v2", "cuMemsetD8_v2", "cuMemcpyDtoH_v2", "cuMemFree_v2"}) {
    EXPECT_EQ(1, Logged(symbol)) << symbol;
  }
}

TEST_F(StaticRuntimeTest, WithoutTheNewerResolverTheOlderOneIsTheRoad) {
  setenv("CUHEAP_SIM_WITHOUT", "cuGetProcAddress_v2", 1);
  setenv("CUHEAP_SIM_DRIVER_VERSION", "11080", 1);
  ASSERT_NO_FATAL_FAILURE(Run());
  EXPECT_EQ(0, status_);
  EXPECT_EQ("cuGetProcAddress", resolver_);
  EXPECT_EQ("yes", copied_);
  EXPECT_LT(found_, asked_ - 1);
  EXPECT_GT(found_, asked_ / 2);
  EXPECT_EQ(0, Logged("cuGetProcAddress_v2"));
  EXPECT_EQ(1 + asked_ + kUses, Logged("cuGetProcAddress"));
}

TEST_F(StaticRuntimeTest, WithoutBothThereIsNoRoad) {
  setenv("CUHEAP_SIM_WITHOUT", "cuGetProcAddress_v2,cuGetProcAddress", 1);
  FILE* output = popen(CUHEAP_STATIC_RUNTIME " 2>&1", "r");
  ASSERT_NE(nullptr, output);
  char line[512] = "";
  EXPECT_NE(nullptr, std::fgets(line, sizeof(line), output));
  EXPECT_EQ(1, WEXITSTATUS(pclose(output)));
  EXPECT_NE(std::string::npos, std::string(line).find("undefined symbol: cuGetProcAddress"))
      << line;
}

TEST_F(StaticRuntimeTest, AFunctionTheDriverLacksIsNotFoundWhileItsNeighboursWork) {
  setenv("CUHEAP_SIM_WITHOUT", "cuMemFreeAsync,cuMemFreeAsync_ptsz,cuMemAllocAsync_ptsz", 1);
  ASSERT_NO_FATAL_FAILURE(Run());
  EXPECT_EQ(0, status_);
  // The plain variant stands in for the missing one of a thread's default stream.
  EXPECT_EQ(asked_ - 3, found_);
}

}  // namespace
