// What only a driver with contexts, streams and captures can show.
#include "allocator/driver/cuda_driver.h"

#include <cuda.h>
#include <gtest/gtest.h>

#include <cstring>

namespace cuheap {
namespace {

class CudaDriverTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(driver_.Start(CudaDriver::FindInLibcuda).ok()) << driver_.missing();
  }
  void TearDown() override { cuCtxSetCurrent(nullptr); }

  static CUcontext Current() {
    CUcontext context = nullptr;
    EXPECT_EQ(cuCtxGetCurrent(&context), CUDA_SUCCESS);
    return context;
  }
  static StreamHandle HandleOf(CUstream stream) {
    return StreamHandle(reinterpret_cast<std::uintptr_t>(stream));
  }

  CudaDriver driver_;
};

TEST_F(CudaDriverTest, TheCurrentContextIsLeftAlone) {
  EXPECT_EQ(Current(), nullptr);
  Address address{};
  ASSERT_TRUE(driver_.Allocate(DeviceId(1), 2_MiB, &address).ok());
  EXPECT_EQ(Current(), nullptr);
  CUcontext own = nullptr;
  ASSERT_EQ(cuCtxCreate(&own, nullptr, 0, 0), CUDA_SUCCESS);
  EXPECT_TRUE(driver_.Free(DeviceId(1), address).ok());
  EXPECT_FALSE(driver_.Free(DeviceId(1), address).ok());
  MemoryFigures figures;
  EXPECT_TRUE(driver_.Figures(DeviceId(0), &figures).ok());
  EXPECT_EQ(Current(), own);
  EXPECT_EQ(cuCtxDestroy(own), CUDA_SUCCESS);
}

TEST_F(CudaDriverTest, EventsBelongToTheContextOfTheirStream) {
  CUcontext own = nullptr;
  CUstream stream = nullptr;
  ASSERT_EQ(cuCtxCreate(&own, nullptr, 0, 0), CUDA_SUCCESS);
  ASSERT_EQ(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
  EventHandle event{};
  ASSERT_TRUE(driver_.CreateEvent(DeviceId(0), HandleOf(stream), &event).ok());
  EXPECT_TRUE(driver_.Record(DeviceId(0), HandleOf(stream), event).ok());
  EXPECT_EQ(driver_.Record(DeviceId(0), StreamHandle(0), event).code, DriverCode::kInvalid);
  EXPECT_TRUE(driver_.DestroyEvent(event).ok());
  EXPECT_EQ(cuCtxDestroy(own), CUDA_SUCCESS);
}

TEST_F(CudaDriverTest, ACaptureIsSeenAndWhatItForbidsIsSaid) {
  CUcontext primary = nullptr;
  CUstream stream = nullptr;
  ASSERT_EQ(cuDevicePrimaryCtxRetain(&primary, 0), CUDA_SUCCESS);
  ASSERT_EQ(cuCtxSetCurrent(primary), CUDA_SUCCESS);
  ASSERT_EQ(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
  StreamFacts before;
  ASSERT_TRUE(driver_.LookAt(DeviceId(0), HandleOf(stream), &before).ok());
  EXPECT_FALSE(before.capturing);
  ASSERT_EQ(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL), CUDA_SUCCESS);
  StreamFacts during;
  ASSERT_TRUE(driver_.LookAt(DeviceId(0), HandleOf(stream), &during).ok());
  EXPECT_TRUE(during.capturing);
  EXPECT_EQ(during.id, before.id);
  EXPECT_EQ(driver_.WaitForDevice(DeviceId(0)).code, DriverCode::kCapturing);
  CUgraph graph = nullptr;
  EXPECT_NE(cuStreamEndCapture(stream, &graph), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamDestroy(stream), CUDA_SUCCESS);
  EXPECT_EQ(cuDevicePrimaryCtxRelease(0), CUDA_SUCCESS);
}

TEST_F(CudaDriverTest, HandlesThatAreUsedAgainAreOtherStreams) {
  CUcontext primary = nullptr;
  ASSERT_EQ(cuDevicePrimaryCtxRetain(&primary, 0), CUDA_SUCCESS);
  ASSERT_EQ(cuCtxSetCurrent(primary), CUDA_SUCCESS);
  StreamFacts facts[2];
  CUstream handles[2] = {};
  for (int i = 0; i < 2; ++i) {
    ASSERT_EQ(cuStreamCreate(&handles[i], CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
    ASSERT_TRUE(driver_.LookAt(DeviceId(0), HandleOf(handles[i]), &facts[i]).ok());
    ASSERT_EQ(cuStreamDestroy(handles[i]), CUDA_SUCCESS);
  }
  EXPECT_EQ(handles[0], handles[1]);
  EXPECT_NE(facts[0].id, facts[1].id);
  EXPECT_EQ(driver_.LookAt(DeviceId(0), HandleOf(handles[0]), &facts[0]).code,
            DriverCode::kInvalid);
  EXPECT_EQ(cuDevicePrimaryCtxRelease(0), CUDA_SUCCESS);
}

void* WithoutVirtualMemory(const char* name, int version) {
  const bool removed = std::strncmp(name, "cuMemAddress", 12) == 0 ||
                       std::strcmp(name, "cuMemGetAllocationGranularity") == 0 ||
                       std::strcmp(name, "cuMemCreate") == 0;
  return removed ? nullptr : CudaDriver::FindInLibcuda(name, version);
}

TEST(CudaDriverStartTest, AnOlderDriverHasNoVirtualMemory) {
  CudaDriver driver;
  ASSERT_TRUE(driver.Start(WithoutVirtualMemory).ok());
  PageRules rules;
  PagesHandle pages{};
  Address address{};
  EXPECT_EQ(driver.AskGranule(DeviceId(0), &rules).code, DriverCode::kNotSupported);
  EXPECT_EQ(driver.CreatePages(DeviceId(0), 2_MiB, {}, &pages).code, DriverCode::kNotSupported);
  EXPECT_EQ(driver.Reserve(2_MiB, 2_MiB, &address).code, DriverCode::kNotSupported);
  EXPECT_EQ(rules.granule, Bytes());
}

void* WithoutEvents(const char* name, int version) {
  return std::strcmp(name, "cuEventRecord") == 0 ? nullptr
                                                 : CudaDriver::FindInLibcuda(name, version);
}

TEST(CudaDriverStartTest, WhatIsMissingIsNamed) {
  CudaDriver driver;
  EXPECT_EQ(driver.Start(WithoutEvents).code, DriverCode::kNotSupported);
  EXPECT_STREQ(driver.missing(), "cuEventRecord");
}

}  // namespace
}  // namespace cuheap
