// Memory and pools that travel between processes as file descriptors.
#include "tests/sim/tests/channel.h"
#include "tests/sim/tests/processes.h"

namespace cuheap::sim {
namespace {

constexpr auto kDescriptor = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;

constexpr CUmemLocation kDevice{CU_MEM_LOCATION_TYPE_DEVICE, 0};
constexpr CUmemLocation kNode{CU_MEM_LOCATION_TYPE_HOST_NUMA, 0};

CUmemGenericAllocationHandle NewMemory(std::size_t bytes, const CUmemLocation& place = kDevice) {
  CUmemAllocationProp properties{};
  properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location = place;
  properties.requestedHandleTypes = kDescriptor;
  CUmemGenericAllocationHandle handle = 0;
  EXPECT_CUDA(cuMemCreate(&handle, bytes, &properties, 0));
  return handle;
}

int DescriptorOf(CUmemGenericAllocationHandle handle) {
  int fd = -1;
  EXPECT_CUDA(cuMemExportToShareableHandle(&fd, handle, kDescriptor, 0));
  return fd;
}

CUresult Import(int fd, CUmemGenericAllocationHandle* out) {
  return cuMemImportFromShareableHandle(
      out, reinterpret_cast<void*>(static_cast<std::intptr_t>(fd)), kDescriptor);
}

CUdeviceptr Map(CUmemGenericAllocationHandle handle, std::size_t bytes) {
  CUdeviceptr base = 0;
  const CUmemAccessDesc access{{CU_MEM_LOCATION_TYPE_DEVICE, 0},
                               CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
  EXPECT_CUDA(cuMemAddressReserve(&base, bytes, 0, 0, 0));
  EXPECT_CUDA(cuMemMap(base, bytes, 0, handle, 0));
  EXPECT_CUDA(cuMemSetAccess(base, bytes, &access, 1));
  return base;
}

class DescriptorTest : public Processes {};

TEST_F(DescriptorTest, ADescriptorAloneHoldsMemoryUntilItsLastCopyIsClosed) {
  EXPECT_EQ(0, StatusOf(Start([] {
              STEP(Open());
              const std::size_t before = Free();
              const auto handle = NewMemory(8 * kMiB);
              const int fd = DescriptorOf(handle);
              const int copy = dup(fd);
              STEP(cuMemRelease(handle) == CUDA_SUCCESS);
              STEP(Free() == before - 8 * kMiB);
              STEP(cuheap_sim_used(0, CUHEAP_SIM_VMM) == 0);
              STEP(cuheap_sim_other_processes(0) == 8 * kMiB);
              close(fd);
              STEP(Free() == before - 8 * kMiB);
              CUmemGenericAllocationHandle again = 0;
              STEP(Import(copy, &again) == CUDA_SUCCESS);
              STEP(cuMemRelease(again) == CUDA_SUCCESS && Free() == before - 8 * kMiB);
              close(copy);
              return Free() == before;
            })));
}

TEST_F(DescriptorTest, WhatIsNoDescriptorOfTheMachineIsRefused) {
  EXPECT_EQ(0, StatusOf(Start([] {
              STEP(Open());
              CUmemGenericAllocationHandle handle = 7;
              STEP(Import(-1, &handle) == CUDA_ERROR_INVALID_VALUE);
              STEP(Import(STDERR_FILENO, &handle) == CUDA_ERROR_INVALID_VALUE);
              CUmemoryPool pool = nullptr;
              const int fd = DescriptorOf(NewMemory(2 * kMiB));
              STEP(cuMemPoolImportFromShareableHandle(
                       &pool, reinterpret_cast<void*>(static_cast<std::intptr_t>(fd)), kDescriptor,
                       0) == CUDA_ERROR_INVALID_VALUE);
              close(fd);
              return handle == 7 && pool == nullptr;
            })));
}

TEST_F(DescriptorTest, MemoryInFlightOutlivesItsMakersExit) {
  Share();
  Channel channel;
  Pipe written;
  Pipe ended;
  const pid_t maker = Start([&] {
    STEP(Open());
    const auto handle = NewMemory(4 * kMiB);
    STEP(cuMemsetD32(Map(handle, 4 * kMiB), 77, 1) == CUDA_SUCCESS);
    STEP(cuCtxSynchronize() == CUDA_SUCCESS);
    STEP(channel.SendDescriptor(DescriptorOf(handle)));
    return written.Send(1);
  });
  const pid_t taker = Start([&] {
    int word = 0;
    STEP(ended.Receive(&word) && Open());
    STEP(cuheap_sim_other_processes(0) == 4 * kMiB);
    const int fd = channel.ReceiveDescriptor();
    CUmemGenericAllocationHandle handle = 0;
    STEP(Import(fd, &handle) == CUDA_SUCCESS);
    close(fd);
    const CUdeviceptr base = Map(handle, 4 * kMiB);
    int value = 0;
    STEP(cuMemcpyDtoH(&value, base, 4) == CUDA_SUCCESS && value == 77);
    STEP(cuMemUnmap(base, 4 * kMiB) == CUDA_SUCCESS && cuMemRelease(handle) == CUDA_SUCCESS);
    return cuheap_sim_other_processes(0) == 0;
  });
  EXPECT_EQ(0, StatusOf(maker));
  EXPECT_TRUE(ended.Send(1));
  EXPECT_EQ(0, StatusOf(taker));
}

CUmemoryPool NewPool(CUmemAllocationHandleType types, const CUmemLocation& place = kDevice) {
  CUmemPoolProps properties{};
  properties.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.handleTypes = types;
  properties.location = place;
  CUmemoryPool pool = nullptr;
  EXPECT_CUDA(cuMemPoolCreate(&pool, &properties));
  return pool;
}

CUresult ImportPool(int fd, CUmemoryPool* out) {
  return cuMemPoolImportFromShareableHandle(
      out, reinterpret_cast<void*>(static_cast<std::intptr_t>(fd)), kDescriptor, 0);
}

TEST_F(DescriptorTest, OnlyPoolsMadeForItAreExported) {
  EXPECT_EQ(0, StatusOf(Start([] {
              STEP(Open());
              int fd = -5;
              CUmemoryPool plain = NewPool(CU_MEM_HANDLE_TYPE_NONE);
              STEP(cuMemPoolExportToShareableHandle(&fd, plain, kDescriptor, 0) ==
                   CUDA_ERROR_INVALID_VALUE);
              CUmemoryPool shared = NewPool(kDescriptor);
              CUdeviceptr block = 0;
              STEP(cuMemAllocFromPoolAsync(&block, 64, shared, nullptr) == CUDA_SUCCESS);
              CUmemPoolPtrExportData data{};
              STEP(cuMemPoolExportPointer(&data, block) == CUDA_ERROR_INVALID_VALUE);
              STEP(cuMemPoolExportToShareableHandle(&fd, shared, kDescriptor, 1) ==
                   CUDA_ERROR_INVALID_VALUE);
              STEP(fd == -5);
              STEP(cuMemPoolExportToShareableHandle(&fd, shared, kDescriptor, 0) == CUDA_SUCCESS);
              STEP(cuMemPoolExportPointer(&data, block + 1) == CUDA_ERROR_INVALID_VALUE);
              return cuMemPoolExportPointer(&data, block) == CUDA_SUCCESS;
            })));
}

TEST_F(DescriptorTest, AnImportedPoolShowsBlocksAndHandsNothingOut) {
  Share();
  Channel channel;
  Pipe to_taker;
  Pipe to_maker;
  const pid_t maker = Start([&] {
    STEP(Open());
    CUmemoryPool pool = NewPool(kDescriptor);
    CUdeviceptr block = 0;
    CUmemPoolPtrExportData data{};
    int fd = -1;
    STEP(cuMemPoolExportToShareableHandle(&fd, pool, kDescriptor, 0) == CUDA_SUCCESS);
    STEP(cuMemAllocFromPoolAsync(&block, 1000, pool, nullptr) == CUDA_SUCCESS);
    STEP(cuMemAllocFromPoolAsync(&block, 1000, pool, nullptr) == CUDA_SUCCESS);
    STEP(cuMemsetD8(block, 9, 1000) == CUDA_SUCCESS && cuCtxSynchronize() == CUDA_SUCCESS);
    STEP(cuMemPoolExportPointer(&data, block) == CUDA_SUCCESS);
    STEP(channel.SendDescriptor(fd) && to_taker.Send(data));
    int word = 0;
    STEP(to_maker.Receive(&word));
    unsigned char byte = 0;
    STEP(cuMemcpyDtoH(&byte, block + 999, 1) == CUDA_SUCCESS && byte == 11);
    return cuMemFreeAsync(block, nullptr) == CUDA_SUCCESS;
  });
  const pid_t taker = Start([&] {
    STEP(Open());
    CUmemoryPool pool = nullptr;
    CUmemPoolPtrExportData data{};
    STEP(ImportPool(channel.ReceiveDescriptor(), &pool) == CUDA_SUCCESS && to_taker.Receive(&data));
    CUdeviceptr none = 3;
    STEP(cuMemAllocFromPoolAsync(&none, 64, pool, nullptr) == CUDA_ERROR_INVALID_VALUE);
    STEP(cuDeviceSetMemPool(0, pool) == CUDA_ERROR_INVALID_VALUE && none == 3);
    CUmemoryPool other = NewPool(kDescriptor);
    STEP(cuMemPoolImportPointer(&none, other, &data) == CUDA_ERROR_INVALID_VALUE);
    CUdeviceptr first = 0;
    CUdeviceptr second = 0;
    STEP(cuMemPoolImportPointer(&first, pool, &data) == CUDA_SUCCESS);
    STEP(cuMemPoolImportPointer(&second, pool, &data) == CUDA_SUCCESS);
    STEP(cuheap_sim_used(0, CUHEAP_SIM_POOL) == 0);
    STEP(cuheap_sim_live_blocks(0, CUHEAP_SIM_POOL) == 0);
    unsigned char byte = 0;
    STEP(cuMemcpyDtoH(&byte, first + 999, 1) == CUDA_SUCCESS && byte == 9);
    STEP(cuMemsetD8(second, 11, 1000) == CUDA_SUCCESS && cuCtxSynchronize() == CUDA_SUCCESS);
    STEP(cuMemPoolDestroy(pool) == CUDA_SUCCESS);
    STEP(cuMemFreeAsync(first, nullptr) == CUDA_SUCCESS && cuMemFree(second) == CUDA_SUCCESS);
    STEP(cuMemFree(first) == CUDA_ERROR_INVALID_VALUE);
    return to_maker.Send(1);
  });
  EXPECT_EQ(0, StatusOf(taker));
  EXPECT_EQ(0, StatusOf(maker));
}

TEST_F(DescriptorTest, MemoryOfANodeOfTheHostTravelsToo) {
  Share();
  Channel channel;
  Pipe data_of_pool;
  Pipe done;
  const pid_t maker = Start([&] {
    STEP(Open());
    const auto handle = NewMemory(2 * kMiB, kNode);
    STEP(cuMemsetD32(Map(handle, 2 * kMiB), 77, 1) == CUDA_SUCCESS);
    STEP(channel.SendDescriptor(DescriptorOf(handle)));
    CUmemoryPool pool = NewPool(kDescriptor, kNode);
    CUdeviceptr block = 0;
    CUmemPoolPtrExportData data{};
    int fd = -1;
    STEP(cuMemPoolExportToShareableHandle(&fd, pool, kDescriptor, 0) == CUDA_SUCCESS);
    STEP(cuMemAllocFromPoolAsync(&block, 1000, pool, nullptr) == CUDA_SUCCESS);
    *reinterpret_cast<unsigned char*>(block) = 9;
    STEP(cuMemPoolExportPointer(&data, block) == CUDA_SUCCESS);
    STEP(channel.SendDescriptor(fd) && data_of_pool.Send(data));
    int word = 0;
    STEP(done.Receive(&word));
    STEP(cuheap_sim_used(0, CUHEAP_SIM_VMM) == 0);
    return cuheap_sim_used(0, CUHEAP_SIM_POOL) == 0;  // no device is charged
  });
  const pid_t taker = Start([&] {
    STEP(Open());
    CUmemGenericAllocationHandle handle = 0;
    STEP(Import(channel.ReceiveDescriptor(), &handle) == CUDA_SUCCESS);
    CUmemAllocationProp properties{};
    STEP(cuMemGetAllocationPropertiesFromHandle(&properties, handle) == CUDA_SUCCESS);
    STEP(properties.location.type == CU_MEM_LOCATION_TYPE_HOST_NUMA);
    int value = 0;
    STEP(cuMemcpyDtoH(&value, Map(handle, 2 * kMiB), 4) == CUDA_SUCCESS && value == 77);
    CUmemoryPool pool = nullptr;
    CUmemPoolPtrExportData data{};
    CUdeviceptr block = 0;
    STEP(ImportPool(channel.ReceiveDescriptor(), &pool) == CUDA_SUCCESS);
    STEP(data_of_pool.Receive(&data));
    STEP(cuMemPoolImportPointer(&block, pool, &data) == CUDA_SUCCESS);
    STEP(*reinterpret_cast<unsigned char*>(block) == 9);
    return done.Send(1);
  });
  EXPECT_EQ(0, StatusOf(taker));
  EXPECT_EQ(0, StatusOf(maker));
}

TEST_F(DescriptorTest, TheBlocksOfAKilledMakerStayWithTheirImporterAndThenGo) {
  Share();
  Channel channel;
  Pipe to_taker;
  const pid_t maker = Start([&] {
    STEP(Open());
    CUmemoryPool pool = NewPool(kDescriptor);
    CUdeviceptr block = 0;
    CUmemPoolPtrExportData data{};
    int fd = -1;
    STEP(cuMemPoolExportToShareableHandle(&fd, pool, kDescriptor, 0) == CUDA_SUCCESS);
    STEP(cuMemAllocFromPoolAsync(&block, 4096, pool, nullptr) == CUDA_SUCCESS);
    STEP(cuMemsetD8(block, 5, 4096) == CUDA_SUCCESS && cuCtxSynchronize() == CUDA_SUCCESS);
    STEP(cuMemPoolExportPointer(&data, block) == CUDA_SUCCESS);
    STEP(channel.SendDescriptor(fd) && to_taker.Send(data));
    pause();
    return true;
  });
  const pid_t taker = Start([&] {
    STEP(Open());
    CUmemoryPool pool = nullptr;
    CUmemPoolPtrExportData data{};
    CUdeviceptr block = 0;
    STEP(ImportPool(channel.ReceiveDescriptor(), &pool) == CUDA_SUCCESS && to_taker.Receive(&data));
    STEP(cuMemPoolImportPointer(&block, pool, &data) == CUDA_SUCCESS);
    kill(maker, SIGKILL);
    while (cuheap_sim_other_processes(0) > 32 * kMiB) usleep(1000);
    unsigned char byte = 0;
    STEP(cuMemcpyDtoH(&byte, block + 4095, 1) == CUDA_SUCCESS && byte == 5);
    STEP(cuheap_sim_other_processes(0) == 32 * kMiB);
    STEP(cuMemFree(block) == CUDA_SUCCESS);
    return cuheap_sim_other_processes(0) == 0;
  });
  EXPECT_EQ(0, StatusOf(taker));
  EXPECT_TRUE(WIFSIGNALED(StatusOf(maker)));
}

}  // namespace
}  // namespace cuheap::sim
