// What a device says about itself, and the driver's log.
#include <algorithm>
#include <cctype>
#include <cstdio>
#include <fstream>
#include <string>

#include "tests/sim/tests/machine.h"

// Deprecated functions are exported and called, so they are tested.
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

namespace cuheap::sim {
namespace {

using DeviceTest = Machine;

TEST_F(DeviceTest, PropertiesRepeatTheAttributes) {
  CUdevprop properties{};
  ASSERT_CUDA(cuDeviceGetProperties(&properties, 0));
  int value = 0;
  ASSERT_CUDA(cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, 0));
  EXPECT_EQ(value, properties.maxThreadsPerBlock);
  EXPECT_EQ(32, properties.SIMDWidth);
  EXPECT_EQ(64, properties.maxThreadsDim[2]);
  EXPECT_EQ(CUDA_ERROR_INVALID_DEVICE, cuDeviceGetProperties(&properties, 2));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuDeviceGetProperties(nullptr, 0));
}

TEST_F(DeviceTest, SmallQueriesAnswerAndCheck) {
  char luid[8] = {1, 1, 1, 1, 1, 1, 1, 1};
  unsigned mask = 1;
  EXPECT_EQ(CUDA_ERROR_INVALID_DEVICE, cuDeviceGetLuid(luid, &mask, 5));
  EXPECT_EQ(1, luid[0]);
  EXPECT_CUDA(cuDeviceGetLuid(luid, &mask, 1));
  EXPECT_EQ(0, luid[7]);
  int supported = 1;
  EXPECT_CUDA(cuDeviceGetExecAffinitySupport(&supported, CU_EXEC_AFFINITY_TYPE_SM_COUNT, 0));
  EXPECT_EQ(0, supported);
  EXPECT_CUDA(cuFlushGPUDirectRDMAWrites(CU_FLUSH_GPU_DIRECT_RDMA_WRITES_TARGET_CURRENT_CTX,
                                         CU_FLUSH_GPU_DIRECT_RDMA_WRITES_TO_OWNER));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE,
            cuFlushGPUDirectRDMAWrites(CU_FLUSH_GPU_DIRECT_RDMA_WRITES_TARGET_CURRENT_CTX,
                                       static_cast<CUflushGPUDirectRDMAWritesScope>(1)));
}

TEST_F(DeviceTest, APlaceOnTheBusHasThreeSpellings) {
  char name[16];
  ASSERT_CUDA(cuDeviceGetPCIBusId(name, sizeof name, 1));
  const std::string full = name;
  std::string lower = full;
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char letter) { return static_cast<char>(std::tolower(letter)); });
  const std::string without_function = full.substr(0, full.size() - 2);
  const std::string without_domain = full.substr(5);
  for (const std::string& text : {full, lower, without_function, without_domain}) {
    CUdevice device = -1;
    EXPECT_CUDA(cuDeviceGetByPCIBusId(&device, text.c_str())) << text;
    EXPECT_EQ(1, device) << text;
  }
  CUdevice device = -1;
  EXPECT_EQ(CUDA_ERROR_INVALID_DEVICE, cuDeviceGetByPCIBusId(&device, "0000:FF:00.0"));
  for (const char* text : {"", "here", "1:2", "0000:1B:00.0g", "0000:1B:00:0"})
    EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuDeviceGetByPCIBusId(&device, text)) << text;
  EXPECT_EQ(-1, device);
}

TEST_F(DeviceTest, WhatItCanShareIsSaid) {
  int value = 0;
  EXPECT_CUDA(cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_MEMPOOL_SUPPORTED_HANDLE_TYPES, 0));
  EXPECT_EQ(CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, value);
  EXPECT_CUDA(cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_IPC_EVENT_SUPPORTED, 0));
  EXPECT_EQ(1, value);
}

TEST_F(DeviceTest, TheLogIsEmpty) {
  CUlogIterator iterator = 9;
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuLogsCurrent(&iterator, 1));
  EXPECT_EQ(9U, iterator);
  EXPECT_CUDA(cuLogsCurrent(&iterator, 0));
  char text[16] = "untouched";
  std::size_t size = sizeof text;
  EXPECT_CUDA(cuLogsDumpToMemory(&iterator, text, &size, 0));
  EXPECT_EQ(0U, size);
  EXPECT_STREQ("", text);
  const std::string path = testing::TempDir() + "cuheap_driver_log";
  EXPECT_CUDA(cuLogsDumpToFile(nullptr, path.c_str(), 0));
  EXPECT_EQ(std::ifstream::traits_type::eof(), std::ifstream(path).peek());
  std::remove(path.c_str());
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuLogsDumpToFile(nullptr, "/no/such/folder/log", 0));
  EXPECT_CUDA(cuLogsRegisterCallback([](void*, CUlogLevel, char*, size_t) {}, nullptr, nullptr));
}

}  // namespace
}  // namespace cuheap::sim
