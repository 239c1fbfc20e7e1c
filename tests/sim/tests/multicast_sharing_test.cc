// Multicast objects of several processes: one team, whose devices and memory each process adds to.
#include "tests/sim/tests/channel.h"
#include "tests/sim/tests/processes.h"

namespace cuheap::sim {
namespace {

constexpr auto kDescriptor = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
constexpr std::size_t kPage = 2 * kMiB;

CUmemGenericAllocationHandle NewTeam() {
  CUmulticastObjectProp properties{};
  properties.numDevices = 2;
  properties.size = kPage;
  properties.handleTypes = kDescriptor;
  CUmemGenericAllocationHandle handle = 0;
  EXPECT_CUDA(cuMulticastCreate(&handle, &properties));
  return handle;
}

CUmemGenericAllocationHandle NewMemory(int device) {
  CUmemAllocationProp properties{};
  properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, device};
  properties.requestedHandleTypes = kDescriptor;
  CUmemGenericAllocationHandle handle = 0;
  EXPECT_CUDA(cuMemCreate(&handle, kPage, &properties, 0));
  return handle;
}

// Open to device 0, whose context is current.
CUdeviceptr Map(CUmemGenericAllocationHandle handle) {
  CUdeviceptr base = 0;
  const CUmemAccessDesc access{{CU_MEM_LOCATION_TYPE_DEVICE, 0},
                               CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
  EXPECT_CUDA(cuMemAddressReserve(&base, kPage, 0, 0, 0));
  EXPECT_CUDA(cuMemMap(base, kPage, 0, handle, 0));
  EXPECT_CUDA(cuMemSetAccess(base, kPage, &access, 1));
  return base;
}

CUresult Import(int fd, CUmemGenericAllocationHandle* out) {
  return cuMemImportFromShareableHandle(
      out, reinterpret_cast<void*>(static_cast<std::intptr_t>(fd)), kDescriptor);
}

int ValueAt(CUdeviceptr address) {
  int value = 0;
  EXPECT_CUDA(cuMemcpyDtoH(&value, address, sizeof value));
  return value;
}

class MulticastSharingTest : public Processes {
 protected:
  void SetUp() override {
    Processes::SetUp();
    setenv("CUHEAP_SIM_DEVICES", "2", 1);
  }
};

TEST_F(MulticastSharingTest, WhatEitherProcessWritesReachesTheMemoryOfBoth) {
  Share();
  Channel channel;
  Pipe bound;
  Pipe written;
  Pipe seen;
  const pid_t maker = Start([&] {
    STEP(Open());
    const auto team = NewTeam();
    int fd = -1;
    STEP(cuMulticastAddDevice(team, 0) == CUDA_SUCCESS);
    STEP(cuMemExportToShareableHandle(&fd, team, kDescriptor, 0) == CUDA_SUCCESS);
    STEP(channel.SendDescriptor(fd));
    const auto memory = NewMemory(0);
    STEP(cuMulticastBindMem(team, 0, memory, 0, kPage, 0) == CUDA_SUCCESS);  // waits for device 1
    const CUdeviceptr own = Map(memory);
    const CUdeviceptr all = Map(team);
    int word = 0;
    STEP(bound.Send(1) && written.Receive(&word));
    STEP(ValueAt(own) == 5);
    STEP(cuMemsetD32(all, 6, 1) == CUDA_SUCCESS && cuCtxSynchronize() == CUDA_SUCCESS);
    STEP(seen.Send(1) && written.Receive(&word));
    return cuMemsetD32(all, 7, 1) != CUDA_SUCCESS;  // device 1 has no memory there any more
  });
  const pid_t taker = Start([&] {
    STEP(Open());
    CUmemGenericAllocationHandle team = 0;
    const int fd = channel.ReceiveDescriptor();
    STEP(Import(fd, &team) == CUDA_SUCCESS);
    close(fd);
    STEP(cuMulticastAddDevice(team, 0) == CUDA_ERROR_INVALID_VALUE);
    STEP(cuMulticastAddDevice(team, 1) == CUDA_SUCCESS);
    const auto memory = NewMemory(1);
    STEP(cuMulticastBindMem(team, 0, memory, 0, kPage, 0) == CUDA_SUCCESS);
    const CUdeviceptr own = Map(memory);
    const CUdeviceptr all = Map(team);
    int word = 0;
    STEP(bound.Receive(&word));
    STEP(cuMemsetD32(all, 5, 1) == CUDA_SUCCESS);
    STEP(cuCtxSynchronize() == CUDA_SUCCESS && ValueAt(own) == 5);
    STEP(written.Send(1) && seen.Receive(&word));
    STEP(ValueAt(own) == 6);
    STEP(cuMulticastUnbind(team, 1, 0, kPage) == CUDA_SUCCESS);
    return written.Send(1);
  });
  EXPECT_EQ(0, StatusOf(taker));
  EXPECT_EQ(0, StatusOf(maker));
}

TEST_F(MulticastSharingTest, ADescriptorHoldsTheTeam) {
  EXPECT_EQ(0, StatusOf(Start([] {
              STEP(Open());
              const auto team = NewTeam();
              int fd = -1;
              STEP(cuMulticastAddDevice(team, 0) == CUDA_SUCCESS);
              STEP(cuMemExportToShareableHandle(&fd, team, kDescriptor, 0) == CUDA_SUCCESS);
              STEP(cuMemRelease(team) == CUDA_SUCCESS);
              int other = -1;  // takes another entry
              STEP(cuMemExportToShareableHandle(&other, NewTeam(), kDescriptor, 0) == CUDA_SUCCESS);
              CUmemGenericAllocationHandle again = 0;
              STEP(Import(fd, &again) == CUDA_SUCCESS);
              STEP(cuMulticastAddDevice(again, 0) == CUDA_ERROR_INVALID_VALUE);
              return cuMulticastAddDevice(again, 1) == CUDA_SUCCESS;
            })));
}

}  // namespace
}  // namespace cuheap::sim
