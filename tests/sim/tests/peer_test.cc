// Memory of another device: who may touch it, and who is caught. What is caught ends in the sticky
// ILLEGAL_ADDRESS of the context that did it.
#include "tests/sim/tests/machine.h"

namespace cuheap::sim {
namespace {

class PeerTest : public Machine {
 protected:
  void SetUp() override {
    Machine::SetUp();
    ASSERT_CUDA(cuDevicePrimaryCtxRetain(&other_, 1));
    ASSERT_CUDA(cuCtxSetCurrent(other_));
    ASSERT_CUDA(cuMemAlloc(&theirs_, 4096));
    ASSERT_CUDA(cuMemsetD8(theirs_, 7, 4096));
    ASSERT_CUDA(cuCtxSynchronize());
    ASSERT_CUDA(cuCtxSetCurrent(context_));
  }
  void TearDown() override {
    EXPECT_CUDA(cuDevicePrimaryCtxReset(1));
    EXPECT_CUDA(cuDevicePrimaryCtxRelease(1));
    Machine::TearDown();
  }

  // The sticky error after a kernel of the current context that touches `base`.
  static CUresult AfterKernel(CUdeviceptr base, bool writes, std::uint64_t bytes = 512) {
    const cuheap_sim_range range{base, bytes, writes ? 1 : 0};
    cuheap_sim_launch(nullptr, "kernel", &range, 1);
    return cuCtxSynchronize();
  }
  static CUmemAccessDesc Access(int device, CUmemAccess_flags flags) {
    return {{CU_MEM_LOCATION_TYPE_DEVICE, device}, flags};
  }

  CUcontext other_ = nullptr;
  CUdeviceptr theirs_ = 0;  // linear memory of device 1
};

TEST_F(PeerTest, AccessIsEnabledOncePerDirection) {
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuCtxEnablePeerAccess(other_, 1));
  EXPECT_EQ(CUDA_ERROR_INVALID_CONTEXT, cuCtxEnablePeerAccess(context_, 0));
  EXPECT_EQ(CUDA_ERROR_INVALID_CONTEXT, cuCtxEnablePeerAccess(nullptr, 0));
  EXPECT_EQ(CUDA_ERROR_PEER_ACCESS_NOT_ENABLED, cuCtxDisablePeerAccess(other_));
  EXPECT_CUDA(cuCtxEnablePeerAccess(other_, 0));
  EXPECT_EQ(CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED, cuCtxEnablePeerAccess(other_, 0));
  EXPECT_CUDA(cuCtxSetCurrent(other_));
  EXPECT_EQ(CUDA_ERROR_PEER_ACCESS_NOT_ENABLED, cuCtxDisablePeerAccess(context_));
  EXPECT_CUDA(cuCtxSetCurrent(context_));
  EXPECT_CUDA(cuCtxDisablePeerAccess(other_));
}

TEST_F(PeerTest, AKernelReachesLinearMemoryOfAnEnabledPeerOnly) {
  EXPECT_CUDA(cuCtxEnablePeerAccess(other_, 0));
  EXPECT_CUDA(AfterKernel(theirs_, true));
  EXPECT_CUDA(cuCtxDisablePeerAccess(other_));
  testing::internal::CaptureStderr();
  EXPECT_EQ(CUDA_ERROR_ILLEGAL_ADDRESS, AfterKernel(theirs_, false));
  EXPECT_NE(std::string::npos, testing::internal::GetCapturedStderr().find("of device 1"));
  CUdeviceptr block = 5;
  EXPECT_EQ(CUDA_ERROR_ILLEGAL_ADDRESS, cuMemAlloc(&block, 8));
  EXPECT_EQ(5U, block);
}

TEST_F(PeerTest, APointerSaysWhatTheCurrentDeviceMayDo) {
  CUdeviceptr pointer = 5;
  unsigned access = 9;
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE,
            cuPointerGetAttribute(&pointer, CU_POINTER_ATTRIBUTE_DEVICE_POINTER, theirs_));
  EXPECT_EQ(5U, pointer);
  EXPECT_CUDA(cuPointerGetAttribute(&access, CU_POINTER_ATTRIBUTE_ACCESS_FLAGS, theirs_));
  EXPECT_EQ(unsigned{CU_POINTER_ATTRIBUTE_ACCESS_FLAG_NONE}, access);
  EXPECT_CUDA(cuCtxEnablePeerAccess(other_, 0));
  EXPECT_CUDA(cuPointerGetAttribute(&pointer, CU_POINTER_ATTRIBUTE_DEVICE_POINTER, theirs_));
  EXPECT_EQ(theirs_, pointer);
  EXPECT_CUDA(cuPointerGetAttribute(&access, CU_POINTER_ATTRIBUTE_ACCESS_FLAGS, theirs_));
  EXPECT_EQ(unsigned{CU_POINTER_ATTRIBUTE_ACCESS_FLAG_READWRITE}, access);
  EXPECT_CUDA(cuCtxDisablePeerAccess(other_));
}

TEST_F(PeerTest, ABodyIsHeldToTheRulesUnlessItIsACollective) {
  const cuheap_sim_range range{theirs_, 512, 1};
  int runs = 0;
  const auto body = [&runs](int is_collective) {
    return cuheap_sim_body{[](void* data) { ++*static_cast<int*>(data); }, [](void*) {}, &runs,
                           is_collective};
  };
  const cuheap_sim_body sum = body(1);
  EXPECT_EQ(0, cuheap_sim_launch_body(nullptr, "sum", &range, 1, &sum));
  EXPECT_CUDA(cuCtxSynchronize());
  EXPECT_EQ(1, runs);
  const cuheap_sim_body adder = body(0);
  cuheap_sim_launch_body(nullptr, "adder", &range, 1, &adder);
  EXPECT_EQ(CUDA_ERROR_ILLEGAL_ADDRESS, cuCtxSynchronize());
  EXPECT_EQ(1, runs);
}

TEST_F(PeerTest, AccessEndsWithTheGenerationOfEitherContext) {
  EXPECT_CUDA(cuCtxEnablePeerAccess(other_, 0));
  EXPECT_CUDA(cuDevicePrimaryCtxReset(1));
  EXPECT_CUDA(cuDevicePrimaryCtxRetain(&other_, 1));
  EXPECT_CUDA(cuDevicePrimaryCtxRelease(1));
  EXPECT_EQ(CUDA_ERROR_PEER_ACCESS_NOT_ENABLED, cuCtxDisablePeerAccess(other_));
  EXPECT_CUDA(cuCtxEnablePeerAccess(other_, 0));
  EXPECT_CUDA(cuDevicePrimaryCtxReset(0));
  EXPECT_CUDA(cuDevicePrimaryCtxRetain(&context_, 0));
  EXPECT_CUDA(cuDevicePrimaryCtxRelease(0));
  EXPECT_EQ(CUDA_ERROR_PEER_ACCESS_NOT_ENABLED, cuCtxDisablePeerAccess(other_));
}

TEST_F(PeerTest, CopiesOfLinearMemoryNeedNoAccess) {
  const CUdeviceptr ours = Alloc(4096);
  EXPECT_CUDA(cuMemcpyDtoD(ours, theirs_, 4096));
  EXPECT_CUDA(cuMemcpyPeer(theirs_, other_, ours, context_, 4096));
  unsigned char byte = 0;
  EXPECT_CUDA(cuMemcpyDtoH(&byte, ours + 4095, 1));
  EXPECT_EQ(7, byte);
  EXPECT_EQ(CUDA_ERROR_INVALID_CONTEXT, cuMemcpyPeer(theirs_, nullptr, ours, context_, 4096));
}

TEST_F(PeerTest, AMappingOpensItselfToEachDeviceByItself) {
  CUmemAllocationProp properties{};
  properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, 1};
  CUmemGenericAllocationHandle handle = 0;
  CUdeviceptr base = 0;
  ASSERT_CUDA(cuMemCreate(&handle, 2 * kMiB, &properties, 0));
  ASSERT_CUDA(cuMemAddressReserve(&base, 2 * kMiB, 0, 0, 0));
  ASSERT_CUDA(cuMemMap(base, 2 * kMiB, 0, handle, 0));
  const CUmemAccessDesc own = Access(1, CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
  ASSERT_CUDA(cuMemSetAccess(base, 2 * kMiB, &own, 1));
  const CUmemAccessDesc reading = Access(0, CU_MEM_ACCESS_FLAGS_PROT_READ);
  const CUmemAccessDesc wrong[] = {reading, Access(7, CU_MEM_ACCESS_FLAGS_PROT_READ)};
  EXPECT_EQ(CUDA_ERROR_INVALID_DEVICE, cuMemSetAccess(base, 2 * kMiB, wrong, 2));
  unsigned long long flags = 9;
  EXPECT_CUDA(cuMemGetAccess(&flags, &reading.location, base));
  EXPECT_EQ(0U, flags) << "a refused call changed the first entry";
  EXPECT_CUDA(cuMemSetAccess(base, 2 * kMiB, &reading, 1));
  EXPECT_CUDA(AfterKernel(base, false));
  // The call that names both contexts always finds its way.
  EXPECT_CUDA(cuMemcpyPeer(base, other_, Alloc(64), context_, 64));
  EXPECT_EQ(CUDA_ERROR_ILLEGAL_ADDRESS, AfterKernel(base, true));
  EXPECT_CUDA(cuMemUnmap(base, 2 * kMiB));
  EXPECT_CUDA(cuMemRelease(handle));
  EXPECT_CUDA(cuMemAddressFree(base, 2 * kMiB));
}

TEST_F(PeerTest, APoolOpensAllItsMemoryToADevice) {
  CUmemoryPool pool = nullptr;
  CUmemPoolProps properties{};
  properties.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, 1};
  ASSERT_CUDA(cuMemPoolCreate(&pool, &properties));
  CUdeviceptr block = 0;
  ASSERT_CUDA(cuMemAllocFromPoolAsync(&block, 4096, pool, nullptr));
  const CUmemAccessDesc open = Access(0, CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
  const CUmemAccessDesc closed = Access(0, CU_MEM_ACCESS_FLAGS_PROT_NONE);
  EXPECT_CUDA(cuMemPoolSetAccess(pool, &open, 1));
  EXPECT_CUDA(AfterKernel(block, true));
  EXPECT_CUDA(cuMemsetD8Async(block, 1, 4096, nullptr));
  EXPECT_CUDA(cuCtxSynchronize());
  EXPECT_CUDA(cuMemPoolSetAccess(pool, &closed, 1));
  // A plain copy does not know the owner of pool memory.
  (void)cuMemcpyDtoDAsync(block, Alloc(64), 64, nullptr);
  EXPECT_EQ(CUDA_ERROR_ILLEGAL_ADDRESS, cuCtxSynchronize());
  EXPECT_CUDA(cuCtxSetCurrent(other_));
  EXPECT_CUDA(cuMemFree(block));
  EXPECT_CUDA(cuMemPoolDestroy(pool));
}

TEST_F(PeerTest, AtomicCapabilitiesNeedOperationsThatExist) {
  unsigned capabilities[2] = {9, 9};
  const CUatomicOperation operations[] = {CU_ATOMIC_OPERATION_CAS, CU_ATOMIC_OPERATION_MAX};
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE,
            cuDeviceGetP2PAtomicCapabilities(capabilities, operations, 2, 0, 1));
  EXPECT_EQ(CUDA_ERROR_INVALID_DEVICE,
            cuDeviceGetP2PAtomicCapabilities(capabilities, operations, 1, 1, 1));
  EXPECT_EQ(9U, capabilities[0]);
  EXPECT_CUDA(cuDeviceGetP2PAtomicCapabilities(capabilities, operations, 1, 0, 1));
  EXPECT_NE(0U, capabilities[0] & CU_ATOMIC_CAPABILITY_SCALAR_64);
  EXPECT_CUDA(cuDeviceGetHostAtomicCapabilities(capabilities, operations, 1, 0));
  EXPECT_EQ(0U, capabilities[0]);
}

}  // namespace
}  // namespace cuheap::sim
