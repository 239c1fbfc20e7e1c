// Copies between devices under a clock that only waits move: what they come after and before, and
// what the search for races says of it.
#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <tuple>
#include <vector>

#include "tests/sim/engine/sim_api.h"

namespace {

#define ASSERT_CUDA(call) ASSERT_EQ(cudaSuccess, call)
#define EXPECT_CUDA(call) EXPECT_EQ(cudaSuccess, call)

constexpr std::size_t kBytes = 4096;

// What a test asks the machine; the library is there since the runtime opened its driver.
template <class Function>
Function* Machine(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_DEFAULT, name));
}

std::uint64_t Races() { return Machine<decltype(cuheap_sim_races)>("cuheap_sim_races")(); }

cudaError_t CopyPeer(void* target, int target_device, const void* source, int source_device) {
  return cudaMemcpyPeer(target, target_device, source, source_device, kBytes);
}

cudaError_t CopyPeerBox(void* target, int target_device, const void* source, int source_device) {
  cudaMemcpy3DPeerParms copy{};
  copy.srcPtr = {const_cast<void*>(source), 64, 64, kBytes / 64};
  copy.dstPtr = {target, 64, 64, kBytes / 64};
  copy.srcDevice = source_device;
  copy.dstDevice = target_device;
  copy.extent = {64, kBytes / 64, 1};
  return cudaMemcpy3DPeer(&copy);
}

// With each of the two calls, and with streams that the default stream waits for and others.
class RuntimePeerCopyTest
    : public testing::TestWithParam<std::tuple<decltype(&CopyPeer), unsigned>> {
 protected:
  static void SetUpTestSuite() {
    setenv("CUHEAP_SIM_CLOCK", "manual", 1);
    setenv("CUHEAP_SIM_DEVICES", "3", 1);
  }

  void SetUp() override {
    for (int device = 2; device >= 0; --device) {
      ASSERT_CUDA(cudaSetDevice(device));
      ASSERT_CUDA(cudaMalloc(&memory_[device], kBytes));
      ASSERT_CUDA(cudaMemset(memory_[device], 0, kBytes));
      ASSERT_CUDA(cudaStreamCreateWithFlags(&streams_[device], std::get<1>(GetParam())));
      ASSERT_CUDA(cudaDeviceSynchronize());
    }
    Machine<decltype(cuheap_sim_forget_races)>("cuheap_sim_forget_races")();
  }
  void TearDown() override {
    for (int device = 2; device >= 0; --device) {
      EXPECT_CUDA(cudaSetDevice(device));
      EXPECT_CUDA(cudaDeviceReset());
    }
  }

  // Work that is queued on a device.
  void Set(int device, int value) {
    ASSERT_CUDA(cudaSetDevice(device));
    ASSERT_CUDA(cudaMemsetAsync(memory_[device], value, kBytes, streams_[device]));
    ASSERT_EQ(cudaErrorNotReady, cudaStreamQuery(streams_[device]));
  }
  cudaError_t Copy(int current, int target, int source) {
    EXPECT_CUDA(cudaSetDevice(current));
    return std::get<0>(GetParam())(memory_[target], target, memory_[source], source);
  }
  std::vector<char> Read(int device) {
    std::vector<char> bytes(kBytes);
    EXPECT_CUDA(cudaSetDevice(device));
    EXPECT_CUDA(cudaMemcpy(bytes.data(), memory_[device], kBytes, cudaMemcpyDeviceToHost));
    return bytes;
  }
  static std::vector<char> All(char value) { return std::vector<char>(kBytes, value); }

  void* memory_[3] = {};
  cudaStream_t streams_[3] = {};
};

TEST_P(RuntimePeerCopyTest, ComesAfterTheWorkOfBothDevices) {
  Set(1, 7);
  Set(0, 3);
  ASSERT_CUDA(Copy(0, 0, 1));
  EXPECT_EQ(All(7), Read(0));
  EXPECT_EQ(0U, Races());
}

TEST_P(RuntimePeerCopyTest, ComesBeforeTheLaterWorkOfBothDevices) {
  Set(1, 7);
  ASSERT_CUDA(Copy(0, 0, 1));
  Set(1, 9);
  ASSERT_CUDA(cudaStreamSynchronize(streams_[1]));
  EXPECT_EQ(All(7), Read(0));
  EXPECT_EQ(All(9), Read(1));
  Set(0, 5);
  ASSERT_CUDA(cudaStreamSynchronize(streams_[0]));
  EXPECT_EQ(All(5), Read(0));
  EXPECT_EQ(0U, Races());
}

TEST_P(RuntimePeerCopyTest, ComesAfterTheWorkOfTheCurrentDeviceWhichStaysCurrent) {
  int device = 7;
  Set(1, 7);
  Set(2, 1);
  ASSERT_CUDA(Copy(2, 0, 1));
  EXPECT_CUDA(cudaGetDevice(&device));
  EXPECT_EQ(2, device);
  EXPECT_CUDA(cudaStreamQuery(streams_[2]));
  EXPECT_EQ(All(7), Read(0));
  EXPECT_EQ(0U, Races());
}

TEST_P(RuntimePeerCopyTest, AsynchronousCopiesAreOrderedByTheirStreamAlone) {
  Set(1, 7);
  ASSERT_CUDA(cudaSetDevice(0));
  ASSERT_CUDA(cudaMemcpyPeerAsync(memory_[0], 0, memory_[1], 1, kBytes, streams_[0]));
  ASSERT_CUDA(cudaStreamSynchronize(streams_[0]));
  EXPECT_EQ(All(0), Read(0));
  EXPECT_EQ(1U, Races());
}

TEST_P(RuntimePeerCopyTest, DevicesThatDoNotExistAndCapturesAreRefused) {
  cudaGraph_t graph = nullptr;
  EXPECT_EQ(cudaErrorInvalidDevice, std::get<0>(GetParam())(memory_[0], 3, memory_[1], 1));
  EXPECT_EQ(cudaErrorInvalidDevice, std::get<0>(GetParam())(memory_[0], 0, memory_[1], -1));
  ASSERT_CUDA(cudaSetDevice(0));
  ASSERT_CUDA(cudaStreamBeginCapture(streams_[0], cudaStreamCaptureModeGlobal));
  EXPECT_EQ(cudaErrorStreamCaptureUnsupported, Copy(0, 0, 1));
  EXPECT_EQ(cudaErrorStreamCaptureInvalidated, cudaStreamEndCapture(streams_[0], &graph));
  cudaGetLastError();
}

INSTANTIATE_TEST_SUITE_P(Calls, RuntimePeerCopyTest,
                         testing::Combine(testing::Values(&CopyPeer, &CopyPeerBox),
                                          testing::Values(cudaStreamDefault,
                                                          cudaStreamNonBlocking)));

}  // namespace
