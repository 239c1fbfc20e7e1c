// Copies and sets through the runtime: what it checks where the driver says less, batches, and the
// names that programs with per-thread default streams call.
#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

namespace {

constexpr std::size_t kMostPitch = 2147483647;
constexpr std::size_t kRoot = std::size_t{1} << 32;  // its square is beyond 64 bits

class RuntimeCopyTest : public testing::Test {
 protected:
  static constexpr std::size_t kPitch = 32;
  static constexpr std::size_t kBytes = 4 * kPitch;

  void SetUp() override {
    ASSERT_EQ(cudaSuccess, cudaMalloc(&memory_, kBytes));
    ASSERT_EQ(cudaSuccess, cudaMemset(memory_, 0, kBytes));
    ASSERT_EQ(cudaSuccess, cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
  }
  void TearDown() override {
    EXPECT_EQ(cudaSuccess, cudaFree(memory_));
    EXPECT_EQ(cudaSuccess, cudaStreamDestroy(stream_));
    cudaGetLastError();
  }

  // A copy from the device and two to it, with `pitch` on the device's side.
  cudaError_t Copy(std::size_t pitch, std::size_t width, std::size_t height) {
    const cudaError_t from =
        cudaMemcpy2D(host_.data(), kPitch, memory_, pitch, width, height, cudaMemcpyDeviceToHost);
    const cudaError_t to =
        cudaMemcpy2D(memory_, pitch, host_.data(), kPitch, width, height, cudaMemcpyHostToDevice);
    EXPECT_EQ(from, to);
    EXPECT_EQ(to, cudaMemcpy2DAsync(memory_, pitch, host_.data(), kPitch, width, height,
                                    cudaMemcpyHostToDevice, stream_));
    return to;
  }
  // How many bytes of the device are 1.
  std::size_t Count() {
    std::vector<char> bytes(kBytes);
    EXPECT_EQ(cudaSuccess, cudaMemcpy(bytes.data(), memory_, kBytes, cudaMemcpyDeviceToHost));
    return static_cast<std::size_t>(std::count(bytes.begin(), bytes.end(), 1));
  }

  void* memory_ = nullptr;
  cudaStream_t stream_ = nullptr;
  std::vector<char> host_ = std::vector<char>(kBytes, 1);
};

TEST_F(RuntimeCopyTest, PitchesThatNoRowsCanHaveAreNamed) {
  EXPECT_EQ(cudaErrorInvalidPitchValue, Copy(16, 17, 2));
  EXPECT_EQ(cudaErrorInvalidPitchValue, Copy(16, 17, 1));
  EXPECT_EQ(cudaErrorInvalidPitchValue, Copy(0, 1, 1));
  EXPECT_EQ(cudaErrorInvalidPitchValue, Copy(kMostPitch + 1, 16, 1));
  EXPECT_EQ(cudaErrorInvalidPitchValue, Copy(SIZE_MAX, 16, 2));
  EXPECT_EQ(cudaErrorInvalidPitchValue, Copy(kPitch, kRoot, kRoot));
  EXPECT_EQ(cudaErrorInvalidMemcpyDirection,
            cudaMemcpy2D(memory_, 0, memory_, 0, 1, 1, static_cast<cudaMemcpyKind>(5)));
  EXPECT_EQ(0U, Count());
  EXPECT_EQ(cudaSuccess, Copy(0, 16, 0));
  EXPECT_EQ(cudaSuccess, Copy(0, 0, 16));
  EXPECT_EQ(0U, Count());
  EXPECT_EQ(cudaSuccess, cudaMemcpy2D(memory_, kMostPitch, host_.data(), kMostPitch, 16, 1,
                                      cudaMemcpyHostToDevice));
  EXPECT_EQ(16U, Count());
}

TEST_F(RuntimeCopyTest, HeightsBeyondEverythingAreNoEmptyCopies) {
  constexpr std::size_t kHigh = SIZE_MAX / 16 + 1;  // times the width: 0
  EXPECT_EQ(cudaErrorInvalidValue, Copy(kPitch, 16, kHigh));
  EXPECT_EQ(0U, Count());
}

TEST_F(RuntimeCopyTest, PitchesBesideArraysAreNamed) {
  cudaArray_t array = nullptr;
  const cudaChannelFormatDesc bytes =
      cudaCreateChannelDesc(8, 0, 0, 0, cudaChannelFormatKindSigned);
  ASSERT_EQ(cudaSuccess, cudaMallocArray(&array, &bytes, 16, 4, cudaArrayDefault));
  for (const std::size_t pitch : {std::size_t{0}, std::size_t{15}, kMostPitch + 1}) {
    EXPECT_EQ(cudaErrorInvalidPitchValue,
              cudaMemcpy2DToArray(array, 0, 0, memory_, pitch, 16, 2, cudaMemcpyDefault));
    EXPECT_EQ(cudaErrorInvalidPitchValue,
              cudaMemcpy2DFromArray(memory_, pitch, array, 0, 0, 16, 2, cudaMemcpyDefault));
    EXPECT_EQ(cudaErrorInvalidPitchValue, cudaMemcpy2DToArrayAsync(array, 0, 0, memory_, pitch, 16,
                                                                   2, cudaMemcpyDefault, stream_));
    EXPECT_EQ(
        cudaErrorInvalidPitchValue,
        cudaMemcpy2DFromArrayAsync(memory_, pitch, array, 0, 0, 16, 2, cudaMemcpyDefault, stream_));
  }
  EXPECT_EQ(cudaSuccess,
            cudaMemcpy2DToArray(array, 0, 0, memory_, kPitch, 16, 4, cudaMemcpyDefault));
  EXPECT_EQ(cudaSuccess, cudaFreeArray(array));
}

TEST_F(RuntimeCopyTest, PitchesOfBoxesAreNamed) {
  cudaMemcpy3DParms copy{};
  cudaMemcpy3DPeerParms peers{};
  copy.srcPtr = peers.srcPtr = {host_.data(), kPitch, kPitch, 2};
  copy.extent = peers.extent = {16, 2, 2};
  copy.kind = cudaMemcpyDefault;
  for (const std::size_t pitch : {std::size_t{0}, std::size_t{15}, kMostPitch + 1, SIZE_MAX}) {
    copy.dstPtr = peers.dstPtr = {memory_, pitch, 16, 2};
    EXPECT_EQ(cudaErrorInvalidPitchValue, cudaMemcpy3D(&copy));
    EXPECT_EQ(cudaErrorInvalidPitchValue, cudaMemcpy3DAsync(&copy, stream_));
    EXPECT_EQ(cudaErrorInvalidPitchValue, cudaMemcpy3DPeer(&peers));
    EXPECT_EQ(cudaErrorInvalidPitchValue, cudaMemcpy3DPeerAsync(&peers, stream_));
  }
  copy.dstPtr = {memory_, kPitch, 16, 2};
  copy.dstPos = {17, 0, 0};
  EXPECT_EQ(cudaErrorInvalidPitchValue, cudaMemcpy3D(&copy));
  EXPECT_EQ(0U, Count());
  copy.dstPos = {16, 0, 0};
  EXPECT_EQ(cudaSuccess, cudaMemcpy3D(&copy));
  EXPECT_EQ(16U * 2 * 2, Count());
  copy.dstPtr = {memory_, 0, 0, 0};
  copy.dstPos = {};
  copy.extent = {16, 1, 1};  // one row has no pitch
  EXPECT_EQ(cudaSuccess, cudaMemcpy3D(&copy));
  EXPECT_EQ(16U * 5, Count());
}

TEST_F(RuntimeCopyTest, APitchThatIsIgnoredIsNoError) {
  const cudaPitchedPtr target{memory_, SIZE_MAX, SIZE_MAX, SIZE_MAX};
  EXPECT_EQ(cudaSuccess, cudaMemset3D(target, 1, {16, 1, 1}));
  EXPECT_EQ(16U, Count());
  EXPECT_EQ(cudaSuccess, cudaMemset3DAsync(target, 2, {16, 1, 1}, stream_));
  ASSERT_EQ(cudaSuccess, cudaStreamSynchronize(stream_));
  EXPECT_EQ(0U, Count());
  EXPECT_EQ(cudaErrorInvalidValue, cudaMemset3D(target, 1, {16, 2, 1}));
  EXPECT_EQ(cudaErrorInvalidValue, cudaMemset3D(target, 1, {16, 1, 2}));
  EXPECT_EQ(cudaErrorInvalidValue, cudaMemset3D({memory_, 0, 0, kRoot}, 1, {16, kRoot, kRoot}));
  EXPECT_EQ(0U, Count());
}

TEST_F(RuntimeCopyTest, ABatchIsCopiedInItsStream) {
  char* const device = static_cast<char*>(memory_);
  void* const targets[] = {device, device + 64};
  const void* const sources[] = {host_.data(), host_.data()};
  const std::size_t sizes[] = {16, 8};
  cudaMemcpyAttributes attributes{};
  attributes.srcAccessOrder = cudaMemcpySrcAccessOrderStream;
  std::size_t first = 0;
  const auto copy = [&](std::size_t count, std::size_t attribute_count, cudaStream_t stream) {
    return cudaMemcpyBatchAsync(targets, sources, sizes, count, &attributes, &first,
                                attribute_count, stream);
  };
  EXPECT_EQ(cudaErrorInvalidValue, copy(0, 1, stream_));
  EXPECT_EQ(cudaErrorInvalidValue, copy(2, 0, stream_));
  EXPECT_EQ(cudaErrorInvalidValue, copy(2, 3, stream_));
  EXPECT_NE(cudaSuccess, copy(2, 1, nullptr));
  EXPECT_EQ(0U, Count());
  ASSERT_EQ(cudaSuccess, copy(2, 1, stream_));
  ASSERT_EQ(cudaSuccess, cudaStreamSynchronize(stream_));
  EXPECT_EQ(16U + 8, Count());
  attributes.srcAccessOrder = static_cast<cudaMemcpySrcAccessOrder>(0);
  EXPECT_EQ(cudaErrorInvalidValue, copy(2, 1, stream_));
}

TEST(RuntimeTwinTest, WhatNobodyWroteSaysItsNameInBothForms) {
  for (const char* name : {"cudaMemcpyToArray", "cudaMemcpyToArray_ptds",
                           "cudaMemcpyFromArray_ptds", "cudaMemcpyArrayToArray_ptds",
                           "cudaMemcpyToArrayAsync_ptsz", "cudaMemcpyFromArrayAsync_ptsz"}) {
    auto* const function = reinterpret_cast<cudaError_t (*)()>(dlsym(RTLD_DEFAULT, name));
    ASSERT_NE(nullptr, function) << name;
    testing::internal::CaptureStderr();
    EXPECT_EQ(cudaErrorNotSupported, function()) << name;
    const std::string said = testing::internal::GetCapturedStderr();
    EXPECT_NE(std::string::npos, said.find(std::string(name) + " ")) << said;
  }
  for (const char* name : {"cudaMemcpyBatchAsync_ptsz", "cudaMemcpyToSymbolAsync_ptsz",
                           "cudaMemcpyFromSymbolAsync_ptsz"}) {
    EXPECT_NE(nullptr, dlsym(RTLD_DEFAULT, name)) << name;
  }
  cudaGetLastError();
}

}  // namespace
