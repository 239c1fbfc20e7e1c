#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <thread>

#include "tests/sim/tests/machine.h"

namespace cuheap::sim {
namespace {

class MulticastTest : public Machine {
 protected:
  static constexpr std::size_t kPage = 2 * kMiB;

  static CUmulticastObjectProp Team(unsigned devices, std::size_t bytes = 2 * kPage) {
    CUmulticastObjectProp properties{};
    properties.numDevices = devices;
    properties.size = bytes;
    properties.handleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    return properties;
  }
  static CUmemGenericAllocationHandle Create() {
    const CUmulticastObjectProp properties = Team(2);
    CUmemGenericAllocationHandle handle = 0;
    EXPECT_CUDA(cuMulticastCreate(&handle, &properties));
    return handle;
  }
  static CUmemGenericAllocationHandle Memory(int device, bool shareable = true) {
    CUmemAllocationProp properties{};
    properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, device};
    if (shareable) properties.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    CUmemGenericAllocationHandle handle = 0;
    EXPECT_CUDA(cuMemCreate(&handle, kPage, &properties, 0));
    return handle;
  }
  static void Allow(CUdeviceptr base, std::size_t bytes) {
    const CUmemAccessDesc access{{CU_MEM_LOCATION_TYPE_DEVICE, 0},
                                 CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    EXPECT_CUDA(cuMemSetAccess(base, bytes, &access, 1));
  }
  void SetUp() override {
    Machine::SetUp();
    ASSERT_CUDA(cuMemAddressReserve(&range_, 4 * kPage, 0, 0, 0));
    object_ = Create();
  }
  void TearDown() override {
    EXPECT_CUDA(cuMemRelease(object_));
    EXPECT_CUDA(cuMemAddressFree(range_, 4 * kPage));
    Machine::TearDown();
  }
  void AddBoth() {
    ASSERT_CUDA(cuMulticastAddDevice(object_, 0));
    ASSERT_CUDA(cuMulticastAddDevice(object_, 1));
  }

  CUdeviceptr range_ = 0;
  CUmemGenericAllocationHandle object_ = 0;
};

TEST_F(MulticastTest, WritesReachTheMemoryOfEveryDevice) {
  int supported = 0;
  ASSERT_CUDA(cuDeviceGetAttribute(&supported, CU_DEVICE_ATTRIBUTE_MULTICAST_SUPPORTED, 0));
  EXPECT_EQ(1, supported);
  AddBoth();
  const std::size_t used = UsedByDriver();
  const CUmemGenericAllocationHandle memory[] = {Memory(0), Memory(1)};
  ASSERT_CUDA(cuMulticastBindMem(object_, kPage, memory[0], 0, kPage, 0));
  ASSERT_CUDA(cuMemMap(range_ + 3 * kPage, kPage, 0, memory[1], 0));
  Allow(range_ + 3 * kPage, kPage);
  ASSERT_CUDA(cuMulticastBindAddr(object_, kPage, range_ + 3 * kPage, kPage, 0));
  EXPECT_EQ(used + kPage, UsedByDriver());  // the binding costs nothing
  ASSERT_CUDA(cuMemMap(range_, 2 * kPage, 0, object_, 0));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemsetD32(range_ + kPage, 1, 4));  // no access yet
  Allow(range_, 2 * kPage);
  ASSERT_CUDA(cuMemMap(range_ + 2 * kPage, kPage, 0, memory[0], 0));
  Allow(range_ + 2 * kPage, kPage);
  ASSERT_CUDA(cuMemsetD32(range_ + kPage + 64, 0x11223344, 8));
  std::uint32_t host = 7;
  ASSERT_CUDA(cuMemcpyHtoD(range_ + kPage, &host, 4));
  for (const CUdeviceptr seen : {range_ + 2 * kPage, range_ + 3 * kPage}) {
    std::uint32_t out = 0;
    ASSERT_CUDA(cuMemcpyDtoH(&out, seen, 4));
    EXPECT_EQ(7U, out);
    ASSERT_CUDA(cuMemcpyDtoH(&out, seen + 64 + 28, 4));
    EXPECT_EQ(0x11223344U, out);
  }
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemcpyDtoH(&host, range_ + kPage, 4));  // no reading
  unsigned long long flags = 0;
  const CUmemLocation second{CU_MEM_LOCATION_TYPE_DEVICE, 1};
  ASSERT_CUDA(cuMemGetAccess(&flags, &second, range_));
  EXPECT_EQ(static_cast<unsigned>(CU_MEM_ACCESS_FLAGS_PROT_NONE), flags);
  EXPECT_CUDA(cuMemUnmap(range_, 4 * kPage));  // mappings of both kinds
  for (const CUmemGenericAllocationHandle handle : memory) EXPECT_CUDA(cuMemRelease(handle));
  EXPECT_EQ(kPage, cuheap_sim_used(0, CUHEAP_SIM_VMM));  // bound memory stays
  EXPECT_CUDA(cuMulticastUnbind(object_, 0, kPage, kPage));
  EXPECT_EQ(0U, cuheap_sim_used(0, CUHEAP_SIM_VMM));
  EXPECT_CUDA(cuMulticastUnbind(object_, 1, kPage, kPage));
}

TEST_F(MulticastTest, BindsAndMappingsWaitUntilATeamIsComplete) {
  const auto memory = Memory(0);
  ASSERT_CUDA(cuMulticastAddDevice(object_, 0));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMulticastAddDevice(object_, 0));
  EXPECT_EQ(CUDA_ERROR_INVALID_DEVICE, cuMulticastAddDevice(object_, 7));
  std::atomic<int> waiting{0};
  std::thread binder([&] {
    EXPECT_CUDA(cuCtxSetCurrent(context_));
    ++waiting;
    EXPECT_CUDA(cuMulticastBindMem(object_, 0, memory, 0, kPage, 0));
    --waiting;
  });
  std::thread mapper([&] {
    EXPECT_CUDA(cuCtxSetCurrent(context_));
    ++waiting;
    EXPECT_CUDA(cuMemMap(range_, kPage, 0, object_, 0));
    --waiting;
  });
  while (waiting != 2) std::this_thread::yield();
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_EQ(2, waiting);
  ASSERT_CUDA(cuMulticastAddDevice(object_, 1));
  binder.join();
  mapper.join();
  CUdeviceptr start = 0;
  std::size_t bytes = 0;
  unsigned types = 0;
  EXPECT_CUDA(cuPointerGetAttribute(&start, CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, range_ + 512));
  EXPECT_CUDA(cuPointerGetAttribute(&bytes, CU_POINTER_ATTRIBUTE_RANGE_SIZE, range_));
  EXPECT_CUDA(cuPointerGetAttribute(&types, CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES, range_));
  EXPECT_EQ(range_, start);
  EXPECT_EQ(4 * kPage, bytes);
  EXPECT_EQ(unsigned{CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR}, types);
  EXPECT_CUDA(cuMemUnmap(range_, kPage));
  EXPECT_CUDA(cuMulticastUnbind(object_, 0, 0, kPage));
  EXPECT_CUDA(cuMemRelease(memory));
}

TEST_F(MulticastTest, WhoWaitsForATeamThatEndsIsTold) {
  const auto object = Create();
  std::thread mapper([&] {
    EXPECT_CUDA(cuCtxSetCurrent(context_));
    EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemMap(range_, kPage, 0, object, 0));
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_CUDA(cuMemRelease(object));
  mapper.join();
}

TEST_F(MulticastTest, WrongBindingsAreRefused) {
  AddBoth();
  const auto memory = Memory(0);
  const auto own = Memory(0, false);
  const auto bind = [&](std::size_t offset, CUmemGenericAllocationHandle handle,
                        std::size_t memory_offset, std::size_t bytes) {
    return cuMulticastBindMem(object_, offset, handle, memory_offset, bytes, 0);
  };
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, bind(4096, memory, 0, kPage));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, bind(0, memory, 0, 0));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, bind(0, memory, 0, 2 * kPage));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, bind(0, memory, kPage, kPage));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, bind(2 * kPage, memory, 0, kPage));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, bind(0, own, 0, kPage));  // not shareable
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, bind(0, object_, 0, kPage));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMulticastBindMem(object_, 0, memory, 0, kPage, 1));
  EXPECT_CUDA(bind(0, memory, 0, kPage));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, bind(0, memory, 0, kPage));  // taken
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMulticastUnbind(object_, 1, 0, kPage));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMulticastUnbind(object_, 0, kPage, kPage));
  EXPECT_CUDA(cuMemRelease(memory));
  EXPECT_CUDA(cuMemRelease(own));
}

TEST_F(MulticastTest, PropertiesAreChecked) {
  std::size_t granularity = 0;
  CUmulticastObjectProp properties = Team(2);
  ASSERT_CUDA(
      cuMulticastGetGranularity(&granularity, &properties, CU_MULTICAST_GRANULARITY_MINIMUM));
  EXPECT_EQ(kPage, granularity);
  CUmemGenericAllocationHandle handle = 5;
  properties = Team(2, kPage + 1);
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMulticastCreate(&handle, &properties));
  properties = Team(0);
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMulticastCreate(&handle, &properties));
  properties = Team(3);
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMulticastCreate(&handle, &properties));
  properties = Team(2);
  properties.handleTypes = CU_MEM_HANDLE_TYPE_FABRIC;
  EXPECT_EQ(CUDA_ERROR_NOT_SUPPORTED, cuMulticastCreate(&handle, &properties));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMulticastCreate(nullptr, &properties));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMulticastAddDevice(12, 0));
  EXPECT_EQ(5U, handle);
}

TEST_F(MulticastTest, ADescriptorGivesAnotherHandleOfTheObject) {
  int fd = -1;
  ASSERT_CUDA(
      cuMemExportToShareableHandle(&fd, object_, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
  CUmemGenericAllocationHandle again = 0;
  ASSERT_CUDA(cuMemImportFromShareableHandle(
      &again, reinterpret_cast<void*>(static_cast<std::intptr_t>(fd)),
      CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR));
  close(fd);
  ASSERT_CUDA(cuMulticastAddDevice(again, 0));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMulticastAddDevice(object_, 0));
  ASSERT_CUDA(cuMulticastAddDevice(object_, 1));
  ASSERT_CUDA(cuMemMap(range_, kPage, 0, again, 0));
  EXPECT_CUDA(cuMemRelease(again));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemRelease(again));
  CUmemGenericAllocationHandle retained = 0;
  ASSERT_CUDA(cuMemRetainAllocationHandle(&retained, reinterpret_cast<void*>(range_ + 8)));
  EXPECT_EQ(again, retained);
  EXPECT_CUDA(cuMemRelease(retained));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemUnmap(range_, 2 * kPage));
  EXPECT_CUDA(cuMemUnmap(range_, kPage));
}

}  // namespace
}  // namespace cuheap::sim
