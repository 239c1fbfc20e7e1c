// The simulated runtime as a program sees it, linked to it as to NVIDIA's.
#include <cuda.h>
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <cstring>
#include <thread>
#include <vector>

#include "tests/sim/runtime/compiled_code.h"

extern "C" {
cudaError_t __cudaGetKernel(cudaKernel_t* kernel, const void* stub);
cudaError_t cudaStreamIsCapturing_ptsz(cudaStream_t stream, cudaStreamCaptureStatus* status);
}

namespace {

template <typename Function>
Function* EntryPoint(const char* name, unsigned int version,
                     unsigned long long flags = cudaEnableDefault,
                     cudaDriverEntryPointQueryResult* status = nullptr) {
  void* function = nullptr;
  cudaDriverEntryPointQueryResult ignored{};
  cudaGetDriverEntryPointByVersion(name, &function, version, flags,
                                   status == nullptr ? &ignored : status);
  return reinterpret_cast<Function*>(function);
}

bool ContextIsActive(int device) {
  unsigned int flags = 0;
  int active = 0;
  auto* get_state =
      EntryPoint<decltype(cuDevicePrimaryCtxGetState)>("cuDevicePrimaryCtxGetState", 7000);
  EXPECT_EQ(get_state(device, &flags, &active), CUDA_SUCCESS);
  return active != 0;
}

class RuntimeTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(cudaSetDevice(0), cudaSuccess);
    cudaGetLastError();
  }
};

TEST_F(RuntimeTest, QueriesMakeNoContextAndAllocationDoes) {
  ASSERT_EQ(cudaDeviceReset(), cudaSuccess);
  int value = 0;
  cudaDeviceProp properties{};
  EXPECT_EQ(cudaGetDeviceCount(&value), cudaSuccess);
  EXPECT_EQ(cudaGetDevice(&value), cudaSuccess);
  EXPECT_EQ(cudaDriverGetVersion(&value), cudaSuccess);
  EXPECT_EQ(cudaGetDeviceProperties(&properties, 0), cudaSuccess);
  EXPECT_FALSE(ContextIsActive(0));
  EXPECT_EQ(cudaFree(nullptr), cudaSuccess);
  EXPECT_TRUE(ContextIsActive(0));
}

TEST_F(RuntimeTest, SettingADeviceMakesItsContext) {
  ASSERT_EQ(cudaSetDevice(1), cudaSuccess);
  EXPECT_TRUE(ContextIsActive(1));
  int device = -1;
  EXPECT_EQ(cudaGetDevice(&device), cudaSuccess);
  EXPECT_EQ(device, 1);
}

TEST_F(RuntimeTest, ThreadsThatSleptThroughAResetBindAnew) {
  void* pointer = nullptr;
  ASSERT_EQ(cudaMalloc(&pointer, 1 << 20), cudaSuccess);
  std::thread([] { EXPECT_EQ(cudaDeviceReset(), cudaSuccess); }).join();
  EXPECT_EQ(cudaMalloc(&pointer, 1 << 20), cudaSuccess);
  EXPECT_EQ(cudaFree(pointer), cudaSuccess);
}

TEST_F(RuntimeTest, SizeZeroGivesANullPointerAndSucceeds) {
  void* pointer = &pointer;
  EXPECT_EQ(cudaMalloc(&pointer, 0), cudaSuccess);
  EXPECT_EQ(pointer, nullptr);
  EXPECT_EQ(cudaFree(pointer), cudaSuccess);
  EXPECT_EQ(cudaFreeHost(nullptr), cudaSuccess);
}

TEST_F(RuntimeTest, AFailureIsKeptUntilItIsRead) {
  void* pointer = nullptr;
  EXPECT_EQ(cudaMalloc(&pointer, size_t{1} << 50), cudaErrorMemoryAllocation);
  int device = 0;
  EXPECT_EQ(cudaGetDevice(&device), cudaSuccess);
  EXPECT_EQ(cudaPeekAtLastError(), cudaErrorMemoryAllocation);
  std::thread([] { EXPECT_EQ(cudaGetLastError(), cudaSuccess); }).join();
  EXPECT_EQ(cudaGetLastError(), cudaErrorMemoryAllocation);
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
}

TEST_F(RuntimeTest, ErrorsHaveTheirNames) {
  EXPECT_STREQ(cudaGetErrorName(cudaErrorMemoryAllocation), "cudaErrorMemoryAllocation");
  EXPECT_STREQ(cudaGetErrorString(cudaErrorMemoryAllocation), "out of memory");
  EXPECT_STREQ(cudaGetErrorString(static_cast<cudaError_t>(12345)), "unrecognized error code");
}

TEST_F(RuntimeTest, ADeviceThatDoesNotExistIsRefused) {
  cudaDeviceProp properties{};
  EXPECT_EQ(cudaSetDevice(99), cudaErrorInvalidDevice);
  EXPECT_EQ(cudaSetDevice(-1), cudaErrorInvalidDevice);
  EXPECT_EQ(cudaGetDeviceProperties(&properties, 99), cudaErrorInvalidDevice);
}

TEST_F(RuntimeTest, AnEntryPointIsTheOneOfTheAskedVersionAndFlags) {
  using Any = void();
  cudaDriverEntryPointQueryResult status{};
  EXPECT_NE(EntryPoint<Any>("cuMemAlloc", 3020), nullptr);
  EXPECT_NE(EntryPoint<Any>("cuIpcOpenMemHandle", 4010),
            EntryPoint<Any>("cuIpcOpenMemHandle", 11000));
  EXPECT_NE(EntryPoint<Any>("cuStreamSynchronize", 12000, cudaEnableLegacyStream),
            EntryPoint<Any>("cuStreamSynchronize", 12000, cudaEnablePerThreadDefaultStream));
  EXPECT_EQ(EntryPoint<Any>("cuMemCreate", 9000, cudaEnableDefault, &status), nullptr);
  EXPECT_EQ(status, cudaDriverEntryPointVersionNotSufficent);
  EXPECT_EQ(EntryPoint<Any>("cuNoSuchFunction", 12000, cudaEnableDefault, &status), nullptr);
  EXPECT_EQ(status, cudaDriverEntryPointSymbolNotFound);
}

TEST_F(RuntimeTest, ThePerThreadFaceTakesHandleZeroForTheThreadsOwnStream) {
  cudaStreamCaptureStatus status{};
  cudaGraph_t graph = nullptr;
  ASSERT_EQ(cudaStreamBeginCapture(cudaStreamPerThread, cudaStreamCaptureModeRelaxed), cudaSuccess);
  EXPECT_EQ(cudaStreamIsCapturing_ptsz(nullptr, &status), cudaSuccess);
  EXPECT_EQ(status, cudaStreamCaptureStatusActive);
  ASSERT_EQ(cudaStreamEndCapture(cudaStreamPerThread, &graph), cudaSuccess);
  EXPECT_EQ(cudaStreamIsCapturing_ptsz(nullptr, &status), cudaSuccess);
  EXPECT_EQ(status, cudaStreamCaptureStatusNone);
  EXPECT_EQ(cudaGraphDestroy(graph), cudaSuccess);
}

TEST_F(RuntimeTest, ARegisteredKernelIsLaunchedByStubAndByHandle) {
  CompiledCode code;
  cudaKernel_t kernel = nullptr;
  EXPECT_EQ(cudaLaunchKernel(code.stub(), dim3(1), dim3(32), nullptr, 0, nullptr), cudaSuccess);
  ASSERT_EQ(__cudaGetKernel(&kernel, code.stub()), cudaSuccess);
  EXPECT_EQ(cudaLaunchKernel(kernel, dim3(1), dim3(32), nullptr, 0, nullptr), cudaSuccess);
  cudaFuncAttributes attributes{};
  EXPECT_EQ(cudaFuncGetAttributes(&attributes, code.stub()), cudaSuccess);
  EXPECT_GT(attributes.maxThreadsPerBlock, 0);
  int blocks = 0;
  EXPECT_EQ(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, code.stub(), 128, 0),
            cudaSuccess);
  EXPECT_GT(blocks, 0);
}

TEST_F(RuntimeTest, AnUnregisteredKernelIsRefused) {
  static char stranger = 0;
  EXPECT_EQ(cudaLaunchKernel(&stranger, dim3(1), dim3(32), nullptr, 0, nullptr),
            cudaErrorInvalidDeviceFunction);
}

TEST_F(RuntimeTest, AWrongGridIsAnInvalidConfiguration) {
  CompiledCode code;
  EXPECT_EQ(cudaLaunchKernel(code.stub(), dim3(0), dim3(32), nullptr, 0, nullptr),
            cudaErrorInvalidConfiguration);
  EXPECT_EQ(cudaLaunchKernel(code.stub(), dim3(1), dim3(4096), nullptr, 0, nullptr),
            cudaErrorInvalidConfiguration);
}

TEST_F(RuntimeTest, PointersAreTold) {
  void* device = nullptr;
  void* host = nullptr;
  void* managed = nullptr;
  int stranger = 0;
  ASSERT_EQ(cudaMalloc(&device, 4096), cudaSuccess);
  ASSERT_EQ(cudaMallocHost(&host, 4096), cudaSuccess);
  ASSERT_EQ(cudaMallocManaged(&managed, 4096, cudaMemAttachGlobal), cudaSuccess);
  const auto type_of = [](const void* pointer) {
    cudaPointerAttributes attributes{};
    EXPECT_EQ(cudaPointerGetAttributes(&attributes, pointer), cudaSuccess);
    return attributes.type;
  };
  EXPECT_EQ(type_of(device), cudaMemoryTypeDevice);
  EXPECT_EQ(type_of(static_cast<char*>(device) + 100), cudaMemoryTypeDevice);
  EXPECT_EQ(type_of(host), cudaMemoryTypeHost);
  EXPECT_EQ(type_of(managed), cudaMemoryTypeManaged);
  EXPECT_EQ(type_of(&stranger), cudaMemoryTypeUnregistered);
  EXPECT_EQ(cudaFree(device), cudaSuccess);
  EXPECT_EQ(cudaFree(managed), cudaSuccess);
  EXPECT_EQ(cudaFreeHost(host), cudaSuccess);
}

TEST_F(RuntimeTest, APitchedCopyLeavesTheGapsAlone) {
  void* device = nullptr;
  size_t pitch = 0;
  ASSERT_EQ(cudaMallocPitch(&device, &pitch, 100, 4), cudaSuccess);
  ASSERT_GE(pitch, 100u);
  std::vector<char> source(400, 'a');
  std::vector<char> back(pitch * 4);
  EXPECT_EQ(cudaMemset2D(device, pitch, 'z', pitch, 4), cudaSuccess);
  EXPECT_EQ(cudaMemcpy2D(device, pitch, source.data(), 100, 100, 4, cudaMemcpyHostToDevice),
            cudaSuccess);
  EXPECT_EQ(cudaMemcpy(back.data(), device, back.size(), cudaMemcpyDeviceToHost), cudaSuccess);
  for (size_t i = 0; i < back.size(); ++i) ASSERT_EQ(back[i], i % pitch < 100 ? 'a' : 'z') << i;
  EXPECT_EQ(cudaMemcpy(back.data(), device, 1, static_cast<cudaMemcpyKind>(7)),
            cudaErrorInvalidMemcpyDirection);
  EXPECT_EQ(cudaFree(device), cudaSuccess);
}

TEST_F(RuntimeTest, AGraphOfNodesCopiesWhenItIsLaunched) {
  void* device = nullptr;
  ASSERT_EQ(cudaMalloc(&device, 1024), cudaSuccess);
  ASSERT_EQ(cudaMemset(device, 0, 1024), cudaSuccess);
  std::vector<char> source(1024, 'g');
  std::vector<char> back(1024);
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t exec = nullptr;
  cudaGraphNode_t in = nullptr;
  cudaGraphNode_t out = nullptr;
  ASSERT_EQ(cudaGraphCreate(&graph, 0), cudaSuccess);
  ASSERT_EQ(cudaGraphAddMemcpyNode1D(&in, graph, nullptr, 0, device, source.data(), 1024,
                                     cudaMemcpyDefault),
            cudaSuccess);
  ASSERT_EQ(
      cudaGraphAddMemcpyNode1D(&out, graph, &in, 1, back.data(), device, 1024, cudaMemcpyDefault),
      cudaSuccess);
  ASSERT_EQ(cudaGraphInstantiate(&exec, graph, 0), cudaSuccess);
  EXPECT_EQ(back[0], 0);
  EXPECT_EQ(cudaGraphLaunch(exec, nullptr), cudaSuccess);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(back, source);
  EXPECT_EQ(cudaGraphExecDestroy(exec), cudaSuccess);
  EXPECT_EQ(cudaGraphDestroy(graph), cudaSuccess);
  EXPECT_EQ(cudaFree(device), cudaSuccess);
}

TEST_F(RuntimeTest, StreamOrderedMemoryComesFromTheDevicesPool) {
  cudaMemPool_t pool = nullptr;
  void* pointer = nullptr;
  unsigned long long used = 0;
  ASSERT_EQ(cudaDeviceGetDefaultMemPool(&pool, 0), cudaSuccess);
  ASSERT_EQ(cudaMallocAsync(&pointer, 1 << 20, nullptr), cudaSuccess);
  EXPECT_EQ(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &used), cudaSuccess);
  EXPECT_GE(used, 1u << 20);
  EXPECT_EQ(cudaFreeAsync(pointer, nullptr), cudaSuccess);
  EXPECT_EQ(cudaStreamSynchronize(nullptr), cudaSuccess);
  EXPECT_EQ(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &used), cudaSuccess);
  EXPECT_EQ(used, 0u);
}

TEST_F(RuntimeTest, AnUnwrittenFunctionSaysItsNameOnceAndFails) {
  testing::internal::CaptureStderr();
  EXPECT_EQ(cudaGraphicsUnregisterResource(nullptr), cudaErrorNotSupported);
  EXPECT_EQ(cudaGraphicsUnregisterResource(nullptr), cudaErrorNotSupported);
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_EQ(said,
            "cuheap-sim: cudaGraphicsUnregisterResource is not written in the simulated runtime\n");
  EXPECT_EQ(cudaGetLastError(), cudaErrorNotSupported);
}

}  // namespace
