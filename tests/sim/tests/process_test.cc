// What needs processes of its own. The parent never initialises the driver, so that its children
// may.
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <functional>
#include <string>

#include "tests/sim/tests/machine.h"

namespace cuheap::sim {
namespace {

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

class ProcessTest : public ::testing::Test {
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
    for (const char* suffix : {".control", ".dev0", ".dev1"}) {
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

TEST_F(ProcessTest, AnIpcHandleShowsTheSameBytesAndOutlivesItsMaker) {
  Share();
  Pipe handles;
  Pipe opened;
  Pipe freed;
  const pid_t maker = Start([&] {
    CUdeviceptr large = 0;
    CUdeviceptr small = 0;
    CUipcMemHandle handle{};
    STEP(Open());
    STEP(cuMemAlloc(&large, 8 * kMiB) == CUDA_SUCCESS && cuMemAlloc(&small, 64) == CUDA_SUCCESS);
    STEP(cuMemAlloc(&small, 64) == CUDA_SUCCESS);
    STEP(cuMemsetD32(large, 11, 1) == CUDA_SUCCESS && cuMemsetD32(small, 22, 1) == CUDA_SUCCESS);
    STEP(cuIpcGetMemHandle(&handle, large) == CUDA_SUCCESS && handles.Send(handle));
    CUdeviceptr self = 0;
    STEP(cuIpcOpenMemHandle(&self, handle, 1) == CUDA_ERROR_INVALID_CONTEXT);
    STEP(cuIpcGetMemHandle(&handle, small) == CUDA_SUCCESS && handles.Send(handle));
    int word = 0;
    STEP(opened.Receive(&word));
    STEP(cuMemFree(large) == CUDA_SUCCESS);
    return freed.Send(1);
  });
  const pid_t taker = Start([&] {
    CUipcMemHandle first{};
    CUipcMemHandle second{};
    CUdeviceptr large = 0;
    CUdeviceptr small = 0;
    STEP(Open() && handles.Receive(&first) && handles.Receive(&second));
    STEP(cuIpcOpenMemHandle(&large, first, 1) == CUDA_SUCCESS);
    STEP(cuIpcOpenMemHandle(&small, second, 1) == CUDA_SUCCESS);
    int word = 0;
    STEP(opened.Send(1) && freed.Receive(&word));
    int value = 0;
    STEP(cuMemcpyDtoH(&value, large, 4) == CUDA_SUCCESS && value == 11);
    STEP(cuMemcpyDtoH(&value, small, 4) == CUDA_SUCCESS && value == 22);
    STEP(cuIpcCloseMemHandle(large) == CUDA_SUCCESS && cuIpcCloseMemHandle(small) == CUDA_SUCCESS);
    return cuIpcCloseMemHandle(large) == CUDA_ERROR_INVALID_VALUE;
  });
  EXPECT_EQ(0, StatusOf(taker));
  EXPECT_EQ(0, StatusOf(maker));
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
