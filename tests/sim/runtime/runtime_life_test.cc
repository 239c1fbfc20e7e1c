// The runtime at the edges of a process's life: no driver, an old one, no device, a fork, the
// driver's shutdown, a broken context. Each test runs in a child: the runtime opens its driver
// once.
#include <cuda.h>
#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <iterator>
#include <thread>

#include "tests/sim/engine/sim_api.h"
#include "tests/sim/tests/child.h"

namespace cuheap::sim {
namespace {

// What a test asks the machine; the library is there since the runtime opened its driver.
template <class Function>
Function* Machine(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_DEFAULT, name));
}

void ShutDown() { Machine<decltype(cuheap_sim_shut_down)>("cuheap_sim_shut_down")(); }

// A kernel of the current device that writes to `memory`; the device's answer.
cudaError_t Touch(void* memory) {
  const cuheap_sim_range range{reinterpret_cast<uint64_t>(memory), 64, 1};
  Machine<decltype(cuheap_sim_launch)>("cuheap_sim_launch")(nullptr, "kernel", &range, 1);
  return cudaDeviceSynchronize();
}

// Calls of every kind, which all have to say `code` and leave their outputs alone.
bool AllSay(cudaError_t code) {
  void* memory = &code;
  int number = 77;
  std::size_t bytes = 77;
  cudaStream_t stream = nullptr;
  cudaEvent_t event = nullptr;
  cudaDeviceProp properties{};
  cudaPointerAttributes attributes{};
  properties.major = attributes.device = 77;
  const cudaError_t results[] = {cudaMalloc(&memory, 64),
                                 cudaMalloc(&memory, 0),
                                 cudaMallocHost(&memory, 64),
                                 cudaMallocAsync(&memory, 64, nullptr),
                                 cudaMallocPitch(&memory, &bytes, 64, 4),
                                 cudaFree(nullptr),
                                 cudaFreeHost(nullptr),
                                 cudaMemGetInfo(&bytes, &bytes),
                                 cudaMemset(memory, 0, 4),
                                 cudaGetDevice(&number),
                                 cudaSetDevice(0),
                                 cudaGetDeviceProperties(&properties, 0),
                                 cudaDeviceGetAttribute(&number, cudaDevAttrWarpSize, 0),
                                 cudaDeviceCanAccessPeer(&number, 0, 1),
                                 cudaDeviceSynchronize(),
                                 cudaDeviceReset(),
                                 cudaStreamCreate(&stream),
                                 cudaStreamSynchronize(nullptr),
                                 cudaEventCreate(&event),
                                 cudaPointerGetAttributes(&attributes, &code)};
  for (std::size_t i = 0; i < std::size(results); ++i) {
    if (results[i] == code) continue;
    std::fprintf(stderr, "call %zu says %d\n", i, results[i]);
    return false;
  }
  return memory == &code && number == 77 && bytes == 77 && stream == nullptr && event == nullptr &&
         properties.major == 77 && attributes.device == 77;
}

class RuntimeLifeTest : public testing::Test {
 protected:
  void TearDown() override {
    for (const char* name : {"CUHEAP_SIM_DEVICES", "CUHEAP_SIM_DRIVER_VERSION", "CUHEAP_SIM_PEERS",
                             "CUHEAP_SIM_SHUTDOWN"}) {
      unsetenv(name);
    }
  }
};

TEST_F(RuntimeLifeTest, AfterTheShutdownEveryCallSaysUnloading) {
  EXPECT_EQ(0, ExitOf([] {
              CHILD_NEEDS(cudaSetDevice(0) == cudaSuccess);
              ShutDown();
              CHILD_NEEDS(AllSay(cudaErrorCudartUnloading));
              int count = 9;
              CHILD_NEEDS(cudaGetDeviceCount(&count) == cudaErrorCudartUnloading && count == 9);
              CHILD_NEEDS(cudaDriverGetVersion(&count) == cudaErrorCudartUnloading && count == 9);
              CHILD_NEEDS(cudaGetLastError() == cudaErrorCudartUnloading);
              return 0;
            }));
}

TEST_F(RuntimeLifeTest, ARuntimeThatStartsAfterTheShutdownSaysSoToo) {
  EXPECT_EQ(0, ExitOf([] {
              void* driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL);
              auto* init = reinterpret_cast<decltype(&cuInit)>(dlsym(driver, "cuInit"));
              CHILD_NEEDS(init != nullptr && init(0) == CUDA_SUCCESS);
              ShutDown();
              CHILD_NEEDS(AllSay(cudaErrorCudartUnloading));
              return 0;
            }));
}

// A static object that frees its memory in its destructor.
struct Holder {
  ~Holder() { *seen = cudaFree(memory); }
  void* memory = nullptr;
  cudaError_t* seen = nullptr;
};

int ExitWithHolder() {
  static cudaError_t seen = cudaErrorUnknown;
  std::atexit([] { _exit(seen); });
  static Holder holder;
  holder.seen = &seen;
  CHILD_NEEDS(cudaMalloc(&holder.memory, 64) == cudaSuccess);
  std::exit(255);
}

TEST_F(RuntimeLifeTest, AStaticObjectFreesItsMemoryBeforeOrAfterTheShutdown) {
  EXPECT_EQ(cudaSuccess, ExitOf(ExitWithHolder));
  // The driver is loaded after the object was made, so that either of its handlers comes first.
  for (const char* when : {"at-exit-early", "at-exit-late"}) {
    setenv("CUHEAP_SIM_SHUTDOWN", when, 1);
    EXPECT_EQ(cudaErrorCudartUnloading, ExitOf(ExitWithHolder)) << when;
  }
}

TEST_F(RuntimeLifeTest, InAForkedChildEveryCallSaysInitializationError) {
  EXPECT_EQ(0, ExitOf([] {
              CHILD_NEEDS(cudaSetDevice(0) == cudaSuccess);
              return ExitOf([] { return AllSay(cudaErrorInitializationError) ? 0 : 1; });
            }));
}

TEST_F(RuntimeLifeTest, ADriverOfAnOlderMajorVersionIsInsufficient) {
  setenv("CUHEAP_SIM_DRIVER_VERSION", "12090", 1);
  EXPECT_EQ(0, ExitOf([] {
              int number = 9;
              CHILD_NEEDS(cudaGetDeviceCount(&number) == cudaErrorInsufficientDriver);
              CHILD_NEEDS(number == 0);
              CHILD_NEEDS(AllSay(cudaErrorInsufficientDriver));
              CHILD_NEEDS(cudaDriverGetVersion(&number) == cudaSuccess && number == 12090);
              return 0;
            }));
}

TEST_F(RuntimeLifeTest, AMachineWithoutDevicesSaysNoDevice) {
  setenv("CUHEAP_SIM_DEVICES", "0", 1);
  EXPECT_EQ(0, ExitOf([] {
              int number = 9;
              CHILD_NEEDS(cudaGetDeviceCount(&number) == cudaErrorNoDevice && number == 0);
              CHILD_NEEDS(AllSay(cudaErrorNoDevice));
              return 0;
            }));
}

TEST_F(RuntimeLifeTest, TheLastErrorBelongsToItsThreadAndIsResetByAskingForIt) {
  EXPECT_EQ(0, ExitOf([] {
              CHILD_NEEDS(cudaSetDevice(99) == cudaErrorInvalidDevice);
              cudaError_t other = cudaErrorUnknown;
              std::thread([&] { other = cudaPeekAtLastError(); }).join();
              CHILD_NEEDS(other == cudaSuccess);
              CHILD_NEEDS(cudaFree(nullptr) == cudaSuccess);
              CHILD_NEEDS(cudaPeekAtLastError() == cudaErrorInvalidDevice);
              CHILD_NEEDS(cudaGetLastError() == cudaErrorInvalidDevice);
              CHILD_NEEDS(cudaGetLastError() == cudaSuccess);
              return 0;
            }));
}

TEST_F(RuntimeLifeTest, ABrokenContextFailsEveryCallUntilItsDeviceIsReset) {
  EXPECT_EQ(0, ExitOf([] {
              void* theirs = nullptr;
              CHILD_NEEDS(cudaSetDevice(1) == cudaSuccess);
              CHILD_NEEDS(cudaMalloc(&theirs, 64) == cudaSuccess);
              CHILD_NEEDS(cudaSetDevice(0) == cudaSuccess);
              CHILD_NEEDS(Touch(theirs) == cudaErrorIllegalAddress);
              void* memory = nullptr;
              CHILD_NEEDS(cudaMalloc(&memory, 64) == cudaErrorIllegalAddress);
              CHILD_NEEDS(cudaGetLastError() == cudaErrorIllegalAddress);
              CHILD_NEEDS(cudaGetLastError() == cudaErrorIllegalAddress);
              CHILD_NEEDS(cudaDeviceReset() == cudaSuccess);
              CHILD_NEEDS(cudaGetLastError() == cudaErrorIllegalAddress);
              CHILD_NEEDS(cudaGetLastError() == cudaSuccess);
              CHILD_NEEDS(cudaMalloc(&memory, 64) == cudaSuccess);
              CHILD_NEEDS(Touch(memory) == cudaSuccess);
              return 0;
            }));
}

TEST_F(RuntimeLifeTest, PeersAreEnabledOncePerDirectionAndNeverOfADeviceWithItself) {
  EXPECT_EQ(0, ExitOf([] {
              CHILD_NEEDS(cudaSetDevice(0) == cudaSuccess);
              CHILD_NEEDS(cudaDeviceEnablePeerAccess(0, 0) == cudaErrorInvalidDevice);
              CHILD_NEEDS(cudaDeviceEnablePeerAccess(1, 1) == cudaErrorInvalidValue);
              CHILD_NEEDS(cudaDeviceDisablePeerAccess(1) == cudaErrorPeerAccessNotEnabled);
              CHILD_NEEDS(cudaDeviceEnablePeerAccess(1, 0) == cudaSuccess);
              CHILD_NEEDS(cudaDeviceEnablePeerAccess(1, 0) == cudaErrorPeerAccessAlreadyEnabled);
              CHILD_NEEDS(cudaSetDevice(1) == cudaSuccess);
              void* theirs = nullptr;
              CHILD_NEEDS(cudaMalloc(&theirs, 64) == cudaSuccess);
              CHILD_NEEDS(cudaSetDevice(0) == cudaSuccess && Touch(theirs) == cudaSuccess);
              return 0;
            }));
  setenv("CUHEAP_SIM_PEERS", "none", 1);
  EXPECT_EQ(0, ExitOf([] {
              int can = 1;
              CHILD_NEEDS(cudaDeviceCanAccessPeer(&can, 0, 1) == cudaSuccess && can == 0);
              CHILD_NEEDS(cudaDeviceEnablePeerAccess(1, 0) == cudaErrorInvalidDevice);
              return 0;
            }));
}

TEST_F(RuntimeLifeTest, AResetLeavesAContextOfTheDriverAlone) {
  EXPECT_EQ(
      0, ExitOf([] {
        void* memory = nullptr;
        CHILD_NEEDS(cudaMalloc(&memory, 64) == cudaSuccess);
        void* create = nullptr;
        cudaGetDriverEntryPointByVersion("cuCtxCreate", &create, 12050, cudaEnableDefault, nullptr);
        CUcontext own = nullptr;
        CHILD_NEEDS(reinterpret_cast<decltype(&cuCtxCreate_v4)>(create)(&own, nullptr, 0, 0) ==
                    CUDA_SUCCESS);
        CHILD_NEEDS(cudaDeviceReset() == cudaSuccess);
        CHILD_NEEDS(cudaFree(memory) == cudaSuccess);
        return 0;
      }));
}

TEST_F(RuntimeLifeTest, FlagsAreThoseOfTheCurrentContextAndMakeTheDevicesOwn) {
  EXPECT_EQ(0, ExitOf([] {
              CHILD_NEEDS(cudaSetDeviceFlags(cudaDeviceScheduleSpin) == cudaSuccess);
              void* state = nullptr;
              void* create = nullptr;
              cudaGetDriverEntryPointByVersion("cuDevicePrimaryCtxGetState", &state, 7000,
                                               cudaEnableDefault, nullptr);
              cudaGetDriverEntryPointByVersion("cuCtxCreate", &create, 12050, cudaEnableDefault,
                                               nullptr);
              unsigned flags = 0;
              int active = 0;
              reinterpret_cast<decltype(&cuDevicePrimaryCtxGetState)>(state)(0, &flags, &active);
              CHILD_NEEDS(active == 1 && flags == CU_CTX_SCHED_SPIN);
              CUcontext own = nullptr;
              CHILD_NEEDS(reinterpret_cast<decltype(&cuCtxCreate_v4)>(create)(
                              &own, nullptr, CU_CTX_SCHED_YIELD, 0) == CUDA_SUCCESS);
              CHILD_NEEDS(cudaGetDeviceFlags(&flags) == cudaSuccess);
              CHILD_NEEDS((flags & cudaDeviceScheduleMask) == cudaDeviceScheduleYield);
              return 0;
            }));
}

}  // namespace
}  // namespace cuheap::sim
