// Processes of a test that share one device. The test's own process never initialises the driver,
// so that its children may.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <functional>
#include <string>

#include "tests/sim/tests/machine.h"

namespace cuheap::sim {

// A step of a child: false ends it with a failure.
#define STEP(condition)                                                          \
  do {                                                                           \
    if (!(condition)) {                                                          \
      std::fprintf(stderr, "line %d: %s does not hold\n", __LINE__, #condition); \
      return false;                                                              \
    }                                                                            \
  } while (false)

class Pipe {
 public:
  Pipe() { EXPECT_EQ(0, pipe(ends_)); }
  ~Pipe() {
    close(ends_[0]);
    close(ends_[1]);
  }
  template <class Value>
  bool Send(const Value& value) {
    return write(ends_[1], &value, sizeof(value)) == sizeof(value);
  }
  template <class Value>
  bool Receive(Value* value) {
    return read(ends_[0], value, sizeof(*value)) == sizeof(*value);
  }

 private:
  int ends_[2];
};

class Processes : public ::testing::Test {
 protected:
  void SetUp() override {
    setenv("CUHEAP_SIM_MEMORY", "2G", 1);
    setenv("CUHEAP_SIM_CONTEXT_MEMORY", "64M", 1);
    prefix_ = ::testing::TempDir() + "cuheap_sim_" + std::to_string(getpid());
  }
  void TearDown() override {
    for (const char* name : {"CUHEAP_SIM_SHARED", "CUHEAP_SIM_DEVICES", "CUHEAP_SIM_LATENCY"}) {
      unsetenv(name);
    }
    for (const char* suffix : {".control", ".exports", ".host", ".dev0", ".dev1"}) {
      std::remove((prefix_ + suffix).c_str());
    }
  }
  void Share() { setenv("CUHEAP_SIM_SHARED", prefix_.c_str(), 1); }

  static pid_t Start(const std::function<bool()>& body) {
    const pid_t child = fork();
    if (child == 0) _exit(body() ? 0 : 1);
    return child;
  }
  static int StatusOf(pid_t child) {
    int status = -1;
    EXPECT_EQ(child, waitpid(child, &status, 0));
    return status;
  }
  static bool Open() {
    CUcontext context = nullptr;
    return cuInit(0) == CUDA_SUCCESS && cuDevicePrimaryCtxRetain(&context, 0) == CUDA_SUCCESS &&
           cuCtxSetCurrent(context) == CUDA_SUCCESS;
  }
  static std::size_t Free() {
    std::size_t free = 0;
    return cuMemGetInfo(&free, nullptr) == CUDA_SUCCESS ? free : 0;
  }

  std::string prefix_;
};

}  // namespace cuheap::sim
