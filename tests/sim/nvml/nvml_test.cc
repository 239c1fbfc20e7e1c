// The simulated NVML beside the simulated runtime: both tell of one device.
#define NVML_NO_UNVERSIONED_FUNC_DEFS
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>
#include <nvml.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

namespace {

class NvmlTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(nvmlInit_v2(), NVML_SUCCESS);
    ASSERT_EQ(nvmlDeviceGetHandleByIndex_v2(1, &device_), NVML_SUCCESS);
  }
  void TearDown() override { EXPECT_EQ(nvmlShutdown(), NVML_SUCCESS); }
  nvmlDevice_t device_ = nullptr;
};

TEST(NvmlLifeTest, NothingIsAnsweredBeforeInitialisation) {
  unsigned int count = 0;
  EXPECT_EQ(nvmlDeviceGetCount_v2(&count), NVML_ERROR_UNINITIALIZED);
}

TEST_F(NvmlTest, ADeviceIsFoundByEachOfItsNames) {
  char uuid[96];
  nvmlPciInfo_t pci{};
  nvmlDevice_t found = nullptr;
  ASSERT_EQ(nvmlDeviceGetUUID(device_, uuid, sizeof uuid), NVML_SUCCESS);
  EXPECT_EQ(nvmlDeviceGetHandleByUUID(uuid, &found), NVML_SUCCESS);
  EXPECT_EQ(found, device_);
  ASSERT_EQ(nvmlDeviceGetPciInfo_v3(device_, &pci), NVML_SUCCESS);
  EXPECT_EQ(nvmlDeviceGetHandleByPciBusId_v2(pci.busId, &found), NVML_SUCCESS);
  EXPECT_EQ(found, device_);
  char runtime_id[32];
  ASSERT_EQ(cudaDeviceGetPCIBusId(runtime_id, sizeof runtime_id, 1), cudaSuccess);
  EXPECT_EQ(nvmlDeviceGetHandleByPciBusId_v2(runtime_id, &found), NVML_SUCCESS);
  EXPECT_EQ(found, device_);
  EXPECT_EQ(nvmlDeviceGetHandleByUUID("GPU-none", &found), NVML_ERROR_NOT_FOUND);
}

TEST_F(NvmlTest, MemoryAgreesWithTheRuntime) {
  ASSERT_EQ(cudaSetDevice(1), cudaSuccess);
  void* pointer = nullptr;
  ASSERT_EQ(cudaMalloc(&pointer, 64 << 20), cudaSuccess);
  size_t free_bytes = 0;
  size_t total_bytes = 0;
  ASSERT_EQ(cudaMemGetInfo(&free_bytes, &total_bytes), cudaSuccess);
  nvmlMemory_t memory{};
  ASSERT_EQ(nvmlDeviceGetMemoryInfo(device_, &memory), NVML_SUCCESS);
  EXPECT_EQ(memory.total, total_bytes);
  EXPECT_EQ(memory.free, free_bytes);
  EXPECT_EQ(memory.used, total_bytes - free_bytes);
  EXPECT_EQ(cudaFree(pointer), cudaSuccess);
}

TEST_F(NvmlTest, ThisProcessIsListedWithWhatItHolds) {
  ASSERT_EQ(cudaSetDevice(1), cudaSuccess);
  unsigned int count = 0;
  EXPECT_EQ(nvmlDeviceGetComputeRunningProcesses_v3(device_, &count, nullptr),
            NVML_ERROR_INSUFFICIENT_SIZE);
  ASSERT_EQ(count, 1u);
  nvmlProcessInfo_t process{};
  ASSERT_EQ(nvmlDeviceGetComputeRunningProcesses_v3(device_, &count, &process), NVML_SUCCESS);
  nvmlMemory_t memory{};
  ASSERT_EQ(nvmlDeviceGetMemoryInfo(device_, &memory), NVML_SUCCESS);
  EXPECT_EQ(process.pid, static_cast<unsigned int>(getpid()));
  EXPECT_EQ(process.usedGpuMemory, memory.used);
}

TEST_F(NvmlTest, ATooShortBufferIsRefused) {
  char name[4];
  EXPECT_EQ(nvmlDeviceGetName(device_, name, sizeof name), NVML_ERROR_INSUFFICIENT_SIZE);
}

TEST_F(NvmlTest, AnUnwrittenFunctionSaysItsNameAndFails) {
  testing::internal::CaptureStderr();
  unsigned int speed = 0;
  EXPECT_EQ(nvmlDeviceGetFanSpeed(device_, &speed), NVML_ERROR_NOT_SUPPORTED);
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "cuheap-sim: nvmlDeviceGetFanSpeed is not written in the simulated NVML\n");
}

// Run twice more, with CUHEAP_SIM_NVML.
TEST_F(NvmlTest, WhatMayNotBeToldIsRefused) {
  const char* setting = std::getenv("CUHEAP_SIM_NVML");
  const std::string answer = setting == nullptr ? "full" : setting;
  const nvmlReturn_t expected = answer == "full"            ? NVML_SUCCESS
                                : answer == "no-permission" ? NVML_ERROR_NO_PERMISSION
                                                            : NVML_ERROR_NOT_SUPPORTED;
  nvmlMemory_t memory{};
  nvmlProcessInfo_t processes[8];
  unsigned int count = 8;
  EXPECT_EQ(nvmlDeviceGetMemoryInfo(device_, &memory), expected);
  EXPECT_EQ(nvmlDeviceGetComputeRunningProcesses_v3(device_, &count, processes), expected);
  char name[NVML_DEVICE_NAME_V2_BUFFER_SIZE];
  EXPECT_EQ(nvmlDeviceGetName(device_, name, sizeof name), NVML_SUCCESS);
}

// Run once more, with a fault for every cuMemAlloc.
TEST_F(NvmlTest, FaultsOfTheEnvironmentComeWhereNvmlBeginsTheMachineToo) {
  void* memory = nullptr;
  const bool fails = std::getenv("CUHEAP_SIM_FAULTS") != nullptr;
  EXPECT_EQ(cudaMalloc(&memory, 4096), fails ? cudaErrorMemoryAllocation : cudaSuccess);
  EXPECT_EQ(cudaFree(memory), cudaSuccess);
}

}  // namespace
