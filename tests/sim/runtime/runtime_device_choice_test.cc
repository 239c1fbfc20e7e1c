// Which device a thread works on that chose none, and which device fits best. Each test runs in a
// child: devices are chosen before the first context.
#include <cuda.h>
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <thread>

#include "tests/sim/tests/child.h"

namespace cuheap::sim {
namespace {

class RuntimeDeviceChoiceTest : public testing::Test {
 protected:
  void SetUp() override { setenv("CUHEAP_SIM_DEVICES", "3", 1); }
  void TearDown() override { unsetenv("CUHEAP_SIM_FAULTS"); }
};

// The device that an allocation of this thread lies on; -1: there is none.
int DeviceOfMemory() {
  void* memory = nullptr;
  cudaPointerAttributes attributes{};
  if (cudaMalloc(&memory, 64) != cudaSuccess) return -1;
  return cudaPointerGetAttributes(&attributes, memory) == cudaSuccess ? attributes.device : -1;
}

int CurrentDevice() {
  int device = -1;
  return cudaGetDevice(&device) == cudaSuccess ? device : -1;
}

TEST_F(RuntimeDeviceChoiceTest, TheFirstOfTheListIsUsedByThreadsThatChoseNone) {
  EXPECT_EQ(0, ExitOf([] {
              int list[] = {2, 1};
              CHILD_NEEDS(CurrentDevice() == 0);
              CHILD_NEEDS(cudaSetValidDevices(list, 2) == cudaSuccess);
              list[0] = 0;
              CHILD_NEEDS(CurrentDevice() == 2);
              CHILD_NEEDS(DeviceOfMemory() == 2 && CurrentDevice() == 2);
              int other = -1;
              std::thread([&] { other = DeviceOfMemory(); }).join();
              CHILD_NEEDS(other == 2);
              std::thread([&] {
                other = cudaSetDevice(0) == cudaSuccess ? DeviceOfMemory() : -1;
              }).join();
              CHILD_NEEDS(other == 0);
              return 0;
            }));
}

TEST_F(RuntimeDeviceChoiceTest, AnEmptyListIsAllDevices) {
  EXPECT_EQ(0, ExitOf([] {
              int list[] = {1};
              CHILD_NEEDS(cudaSetValidDevices(list, 1) == cudaSuccess);
              CHILD_NEEDS(cudaSetValidDevices(nullptr, 0) == cudaSuccess);
              CHILD_NEEDS(DeviceOfMemory() == 0);
              return 0;
            }));
}

TEST_F(RuntimeDeviceChoiceTest, DevicesThatAreUnavailableArePassedOver) {
  setenv("CUHEAP_SIM_FAULTS", "cuDevicePrimaryCtxRetain:1=46", 1);
  EXPECT_EQ(0, ExitOf([] {
              int list[] = {1, 2};
              CHILD_NEEDS(cudaSetValidDevices(list, 2) == cudaSuccess);
              CHILD_NEEDS(DeviceOfMemory() == 2 && CurrentDevice() == 2);
              return 0;
            }));
  EXPECT_EQ(0, ExitOf([] {
              CHILD_NEEDS(DeviceOfMemory() == 1 && CurrentDevice() == 1);
              return 0;
            }));
  setenv("CUHEAP_SIM_FAULTS", "cuDevicePrimaryCtxRetain:*=46", 1);
  EXPECT_EQ(0, ExitOf([] {
              void* memory = nullptr;
              CHILD_NEEDS(cudaMalloc(&memory, 64) == cudaErrorDevicesUnavailable);
              CHILD_NEEDS(memory == nullptr && CurrentDevice() == 0);
              return 0;
            }));
  setenv("CUHEAP_SIM_FAULTS", "cuDevicePrimaryCtxRetain:1=2", 1);
  EXPECT_EQ(0, ExitOf([] {
              void* memory = nullptr;
              CHILD_NEEDS(cudaMalloc(&memory, 64) == cudaErrorMemoryAllocation);
              CHILD_NEEDS(DeviceOfMemory() == 0);
              return 0;
            }));
}

TEST_F(RuntimeDeviceChoiceTest, ListsThatCannotBeAreRefusedAndChangeNothing) {
  EXPECT_EQ(0, ExitOf([] {
              int good[] = {1};
              int bad[] = {0, 3};
              int negative[] = {-1};
              int long_list[] = {0, 1, 2, 0};
              CHILD_NEEDS(cudaSetValidDevices(good, 1) == cudaSuccess);
              CHILD_NEEDS(cudaSetValidDevices(bad, 2) == cudaErrorInvalidDevice);
              CHILD_NEEDS(cudaSetValidDevices(negative, 1) == cudaErrorInvalidDevice);
              CHILD_NEEDS(cudaSetValidDevices(nullptr, 1) == cudaErrorInvalidValue);
              CHILD_NEEDS(cudaSetValidDevices(long_list, 4) == cudaErrorInvalidValue);
              CHILD_NEEDS(cudaSetValidDevices(good, -1) == cudaErrorInvalidValue);
              CHILD_NEEDS(DeviceOfMemory() == 1);
              CHILD_NEEDS(cudaSetValidDevices(bad, 1) == cudaErrorSetOnActiveProcess);
              CHILD_NEEDS(cudaGetLastError() == cudaErrorSetOnActiveProcess);
              return 0;
            }));
}

TEST_F(RuntimeDeviceChoiceTest, TheDeviceThatHasMostOfWhatIsAskedForIsChosen) {
  EXPECT_EQ(0, ExitOf([] {
              int device = 7;
              cudaDeviceProp has{};
              cudaDeviceProp wanted{};
              CHILD_NEEDS(cudaChooseDevice(nullptr, &wanted) == cudaErrorInvalidValue);
              CHILD_NEEDS(cudaChooseDevice(&device, nullptr) == cudaErrorInvalidValue);
              CHILD_NEEDS(device == 7);
              CHILD_NEEDS(cudaChooseDevice(&device, &wanted) == cudaSuccess && device == 0);
              CHILD_NEEDS(cudaGetDeviceProperties(&has, 2) == cudaSuccess);
              CHILD_NEEDS(cudaChooseDevice(&device, &has) == cudaSuccess && device == 2);
              wanted.major = 77;
              wanted.uuid = has.uuid;
              CHILD_NEEDS(cudaChooseDevice(&device, &wanted) == cudaSuccess && device == 2);
              CHILD_NEEDS(CurrentDevice() == 0);
              return 0;
            }));
  setenv("CUHEAP_SIM_DEVICES", "0", 1);
  EXPECT_EQ(0, ExitOf([] {
              int device = 7;
              cudaDeviceProp wanted{};
              CHILD_NEEDS(cudaChooseDevice(&device, &wanted) == cudaErrorNoDevice && device == 7);
              return 0;
            }));
}

}  // namespace
}  // namespace cuheap::sim
