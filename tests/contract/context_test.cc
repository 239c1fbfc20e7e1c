// Contexts, devices and threads.
#include <thread>

#include "tests/contract/contract.h"

namespace cuheap::contract {

template <class Face>
class Contexts : public Contract<Face> {};
TYPED_TEST_SUITE(Contexts, DriverFaces, NameOfFace);

TYPED_TEST(Contexts, AreCurrentForOneThread) {
  const DriverFunctions& driver = TypeParam::F();
  std::thread([&driver] {
    CUcontext current = reinterpret_cast<CUcontext>(kPreset);
    EXPECT_EQ(CUDA_SUCCESS, driver.cuCtxGetCurrent(&current));
    EXPECT_EQ(nullptr, current);
    CUdevice device = -5;
    EXPECT_EQ(CUDA_ERROR_INVALID_CONTEXT, driver.cuCtxGetDevice(&device));
    EXPECT_EQ(-5, device);
    CUdeviceptr memory = 7;
    EXPECT_EQ(CUDA_ERROR_INVALID_CONTEXT, driver.cuMemAlloc(&memory, 512));
    EXPECT_EQ(7U, memory);
  }).join();
}

TYPED_TEST(Contexts, ThatArePrimaryAreOneADevice) {
  const DriverFunctions& driver = TypeParam::F();
  CUcontext first = nullptr;
  CUcontext second = nullptr;
  ASSERT_EQ(CUDA_SUCCESS, driver.cuDevicePrimaryCtxRetain(&first, 0));
  ASSERT_EQ(CUDA_SUCCESS, driver.cuDevicePrimaryCtxRetain(&second, 0));
  EXPECT_EQ(first, second);
  EXPECT_EQ(CUDA_SUCCESS, driver.cuDevicePrimaryCtxRelease(0));
  EXPECT_EQ(CUDA_SUCCESS, driver.cuDevicePrimaryCtxRelease(0));
  unsigned flags = 0;
  int active = 0;
  EXPECT_EQ(CUDA_SUCCESS, driver.cuDevicePrimaryCtxGetState(0, &flags, &active));
  EXPECT_EQ(1, active) << "the fixture still holds it";
}

TYPED_TEST(Contexts, AreAStackOfTheThread) {
  const DriverFunctions& driver = TypeParam::F();
  CUcontext const base = [&driver] {
    CUcontext current = nullptr;
    EXPECT_EQ(CUDA_SUCCESS, driver.cuCtxGetCurrent(&current));
    return current;
  }();
  ASSERT_EQ(CUDA_SUCCESS, driver.cuCtxPushCurrent(base));
  CUcontext popped = nullptr;
  EXPECT_EQ(CUDA_SUCCESS, driver.cuCtxPopCurrent(&popped));
  EXPECT_EQ(base, popped);
  CUcontext current = nullptr;
  EXPECT_EQ(CUDA_SUCCESS, driver.cuCtxGetCurrent(&current));
  EXPECT_EQ(base, current);
}

TYPED_TEST(Contexts, RefuseDevicesThatAreNotThere) {
  const DriverFunctions& driver = TypeParam::F();
  CUcontext context = nullptr;
  EXPECT_EQ(CUDA_ERROR_INVALID_DEVICE, driver.cuDevicePrimaryCtxRetain(&context, this->Devices()));
  EXPECT_EQ(CUDA_ERROR_INVALID_DEVICE, driver.cuDevicePrimaryCtxRetain(&context, -1));
  EXPECT_EQ(nullptr, context);
}

TYPED_TEST(Contexts, EnablePeersOnceAndInOneDirection) {
  int can = 0;
  if (this->Devices() > 1) {
    EXPECT_OK(TypeParam::CanAccessPeer(&can, 0, 1));
  }
  CUHEAP_CONTRACT_NEEDS(can == 1, "two devices that are peers");
  const DriverFunctions& driver = TypeParam::F();
  CUcontext peer = nullptr;
  ASSERT_EQ(CUDA_SUCCESS, driver.cuDevicePrimaryCtxRetain(&peer, 1));
  EXPECT_EQ(CUDA_ERROR_PEER_ACCESS_NOT_ENABLED, driver.cuCtxDisablePeerAccess(peer));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, driver.cuCtxEnablePeerAccess(peer, 1)) << "no flags exist";
  EXPECT_EQ(CUDA_SUCCESS, driver.cuCtxEnablePeerAccess(peer, 0));
  EXPECT_EQ(CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED, driver.cuCtxEnablePeerAccess(peer, 0));
  EXPECT_EQ(CUDA_SUCCESS, driver.cuCtxDisablePeerAccess(peer));
  EXPECT_EQ(CUDA_SUCCESS, driver.cuDevicePrimaryCtxRelease(1));
}

// The runtime's own rules.
class RuntimeErrors : public Contract<RuntimeFace> {};

TEST_F(RuntimeErrors, StayUntilTheyAreTakenAndBelongToTheirThread) {
  const RuntimeFunctions& runtime = Runtime();
  EXPECT_EQ(cudaErrorInvalidDevice, runtime.cudaSetDevice(Devices()));
  EXPECT_EQ(cudaErrorInvalidDevice, runtime.cudaPeekAtLastError());
  std::thread([&runtime] { EXPECT_EQ(cudaSuccess, runtime.cudaPeekAtLastError()); }).join();
  int device = -1;
  EXPECT_EQ(cudaSuccess, runtime.cudaGetDevice(&device));
  EXPECT_EQ(0, device) << "the failed call changed nothing";
  EXPECT_EQ(cudaErrorInvalidDevice, runtime.cudaGetLastError()) << "a success does not clear it";
  EXPECT_EQ(cudaSuccess, runtime.cudaGetLastError());
}

}  // namespace cuheap::contract
