// What needs processes of its own: a shared capacity, forks, settings.
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/sim/tests/processes.h"

namespace cuheap::sim {
namespace {

using ProcessTest = Processes;

TEST_F(ProcessTest, TwoProcessesShareOneCapacity) {
  Share();
  Pipe ready;
  Pipe done;
  const pid_t holder = Start([&] {
    CUdeviceptr block = 0;
    STEP(Open());
    STEP(cuMemAlloc(&block, kGiB) == CUDA_SUCCESS);
    STEP(ready.Send(1));
    int word = 0;
    return done.Receive(&word);
  });
  const pid_t watcher = Start([&] {
    int word = 0;
    STEP(ready.Receive(&word));
    STEP(Open());
    STEP(Free() == 2 * kGiB - kGiB - 2 * 64 * kMiB);
    STEP(cuheap_sim_other_processes(0) == kGiB + 64 * kMiB);
    CUdeviceptr block = 0;
    STEP(cuMemAlloc(&block, kGiB) == CUDA_ERROR_OUT_OF_MEMORY);
    return done.Send(1);
  });
  EXPECT_EQ(0, StatusOf(watcher));
  EXPECT_EQ(0, StatusOf(holder));
}

TEST_F(ProcessTest, MemoryOfAKilledProcessComesBack) {
  Share();
  Pipe ready;
  const pid_t victim = Start([&] {
    CUdeviceptr block = 0;
    STEP(Open());
    STEP(cuMemAlloc(&block, kGiB) == CUDA_SUCCESS);
    STEP(ready.Send(1));
    pause();
    return true;
  });
  int word = 0;
  ASSERT_TRUE(ready.Receive(&word));
  kill(victim, SIGKILL);
  EXPECT_TRUE(WIFSIGNALED(StatusOf(victim)));
  EXPECT_EQ(0, StatusOf(Start([] {
              STEP(Open());
              STEP(Free() == 2 * kGiB - 64 * kMiB);
              STEP(cuheap_sim_other_processes(0) == 0);
              return true;
            })));
}

TEST_F(ProcessTest, AChildOfAnInitialisedProcessIsNotInitialised) {
  EXPECT_EQ(0, StatusOf(Start([] {
              STEP(Open());
              const pid_t grandchild = Start([] {
                CUdeviceptr block = 6;
                STEP(cuMemAlloc(&block, 8) == CUDA_ERROR_NOT_INITIALIZED && block == 6);
                STEP(cuInit(0) == CUDA_ERROR_NOT_INITIALIZED);
                return true;
              });
              return StatusOf(grandchild) == 0;
            })));
}

// Made without the C library, so no handler of it runs.
TEST_F(ProcessTest, AChildOfARawCloneIsNotInitialisedEither) {
  EXPECT_EQ(0, StatusOf(Start([] {
              STEP(Open());
              CUdeviceptr block = 0;
              STEP(cuMemAlloc(&block, 4096) == CUDA_SUCCESS);
              STEP(cuMemsetD8(block, 5, 4096) == CUDA_SUCCESS);
              const auto child = static_cast<pid_t>(syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0));
              if (child == 0) {
                const bool refused = cuMemsetD8(block, 0, 4096) == CUDA_ERROR_NOT_INITIALIZED &&
                                     cuMemFree(block) == CUDA_ERROR_NOT_INITIALIZED &&
                                     cuInit(0) == CUDA_ERROR_NOT_INITIALIZED;
                _exit(refused ? 0 : 1);
              }
              int status = 0;
              STEP(waitpid(child, &status, 0) == child && status == 0);
              unsigned char byte = 0;
              STEP(cuMemcpyDtoH(&byte, block, 1) == CUDA_SUCCESS && byte == 5);
              STEP(cuMemFree(block) == CUDA_SUCCESS);
              return true;
            })));
}

TEST_F(ProcessTest, NothingWorksBeforeInit) {
  EXPECT_EQ(0, StatusOf(Start([] {
              int count = 5;
              STEP(cuDeviceGetCount(&count) == CUDA_ERROR_NOT_INITIALIZED && count == 5);
              int version = 0;
              STEP(cuDriverGetVersion(&version) == CUDA_SUCCESS && version == 13000);
              return true;
            })));
}

TEST_F(ProcessTest, UnreadableSettingsAreNamedAndFailInit) {
  setenv("CUHEAP_SIM_MEMORY", "lots", 1);
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(0, StatusOf(Start([] { return cuInit(0) == CUDA_ERROR_INVALID_VALUE; })));
  EXPECT_NE(std::string::npos,
            ::testing::internal::GetCapturedStderr().find("CUHEAP_SIM_MEMORY=lots cannot be read"));
}

TEST_F(ProcessTest, AMachineMayHaveNoDevice) {
  setenv("CUHEAP_SIM_DEVICES", "0", 1);
  EXPECT_EQ(0, StatusOf(Start([] { return cuInit(0) == CUDA_ERROR_NO_DEVICE; })));
}

TEST_F(ProcessTest, LatencyIsChargedWhenTheEnvironmentAsks) {
  const auto charged = [] {
    STEP(Open() && cuCtxSynchronize() == CUDA_SUCCESS);
    return cuheap_sim_latency_of_process() != 0;
  };
  EXPECT_EQ(1, WEXITSTATUS(StatusOf(Start(charged))));
  setenv("CUHEAP_SIM_LATENCY", "on", 1);
  EXPECT_EQ(0, StatusOf(Start(charged)));
  setenv("CUHEAP_SIM_LATENCY", "fast", 1);
  EXPECT_EQ(0, StatusOf(Start([] { return cuInit(0) == CUDA_ERROR_INVALID_VALUE; })));
}

TEST_F(ProcessTest, AccessToMemoryWrittenAndFreedKillsTheProcess) {
  EXPECT_TRUE(WIFSIGNALED(StatusOf(Start([] {
    CUdeviceptr block = 0;
    STEP(Open());
    STEP(cuMemAlloc(&block, 2 * kMiB) == CUDA_SUCCESS);
    STEP(cuMemsetD8(block, 1, 1) == CUDA_SUCCESS && cuMemFree(block) == CUDA_SUCCESS);
    std::signal(SIGSEGV, SIG_DFL);
    *reinterpret_cast<volatile char*>(block) = 1;
    return true;
  }))));
}

TEST_F(ProcessTest, CallsInLateDestructorsStillWork) {
  EXPECT_EQ(0, StatusOf(Start([] {
              STEP(Open());
              static CUdeviceptr block = 0;
              STEP(cuMemAlloc(&block, 4096) == CUDA_SUCCESS);
              std::atexit([] { _exit(cuMemFree(block) == CUDA_SUCCESS ? 0 : 2); });
              std::exit(3);
            })));
}

}  // namespace
}  // namespace cuheap::sim
