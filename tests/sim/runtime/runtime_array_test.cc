// Arrays, textures and imported memory through the runtime.
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <numeric>
#include <vector>

namespace {

constexpr cudaChannelFormatDesc kFloat{32, 0, 0, 0, cudaChannelFormatKindFloat};

class RuntimeArrayTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(cudaSetDevice(0), cudaSuccess);
    cudaGetLastError();
  }
  static cudaArray_t NewArray(size_t width, size_t height, unsigned int flags = 0) {
    cudaArray_t array = nullptr;
    EXPECT_EQ(cudaMallocArray(&array, &kFloat, width, height, flags), cudaSuccess);
    return array;
  }
};

TEST_F(RuntimeArrayTest, AnArraySaysWhatItIs) {
  const cudaChannelFormatDesc kinds[] = {
      kFloat,
      {16, 16, 0, 0, cudaChannelFormatKindFloat},
      {8, 8, 8, 8, cudaChannelFormatKindUnsigned},
      {8, 8, 0, 0, cudaChannelFormatKindUnsignedNormalized8X2},
      {8, 8, 8, 0, cudaChannelFormatKindNV12},
  };
  for (const cudaChannelFormatDesc& kind : kinds) {
    cudaArray_t array = nullptr;
    ASSERT_EQ(cudaMallocArray(&array, &kind, 16, 8, 0), cudaSuccess);
    cudaChannelFormatDesc found{};
    cudaExtent extent{};
    unsigned int flags = 9;
    ASSERT_EQ(cudaArrayGetInfo(&found, &extent, &flags, array), cudaSuccess);
    EXPECT_EQ(found.x, kind.x);
    EXPECT_EQ(found.y, kind.y);
    EXPECT_EQ(found.z, kind.z);
    EXPECT_EQ(found.w, kind.w);
    EXPECT_EQ(found.f, kind.f);
    EXPECT_EQ(extent.width, 16u);
    EXPECT_EQ(extent.depth, 0u);
    EXPECT_EQ(flags, 0u);
    EXPECT_EQ(cudaArrayGetInfo(nullptr, nullptr, nullptr, array), cudaSuccess);
    EXPECT_EQ(cudaFreeArray(array), cudaSuccess);
  }
  cudaArray_t array = nullptr;
  const cudaChannelFormatDesc three{8, 8, 8, 0, cudaChannelFormatKindUnsigned};
  EXPECT_EQ(cudaMallocArray(&array, &three, 16, 8, 0), cudaErrorInvalidChannelDescriptor);
  EXPECT_EQ(cudaMallocArray(&array, &kFloat, 0, 8, 0), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMallocArray(nullptr, &kFloat, 4, 4, 0), cudaErrorInvalidValue);
  EXPECT_EQ(array, nullptr);
  EXPECT_EQ(cudaFreeArray(nullptr), cudaSuccess);
}

TEST_F(RuntimeArrayTest, HandlesThatNeverWereAreBadValues) {
  char stranger[256] = {};
  const auto array = reinterpret_cast<cudaArray_t>(stranger);
  const auto levels = reinterpret_cast<cudaMipmappedArray_t>(stranger);
  cudaExtent extent{7, 7, 7};
  cudaChannelFormatDesc channels{7, 7, 7, 7, cudaChannelFormatKindFloat};
  cudaArrayMemoryRequirements requirements{};
  cudaArraySparseProperties properties{};
  EXPECT_EQ(cudaErrorInvalidValue, cudaFreeArray(array));
  EXPECT_EQ(cudaErrorInvalidValue, cudaFreeMipmappedArray(levels));
  EXPECT_EQ(cudaErrorInvalidValue, cudaArrayGetInfo(&channels, &extent, nullptr, array));
  EXPECT_EQ(cudaErrorInvalidValue, cudaArrayGetInfo(&channels, &extent, nullptr, nullptr));
  EXPECT_EQ(cudaErrorInvalidValue, cudaGetChannelDesc(&channels, array));
  EXPECT_EQ(cudaErrorInvalidValue, cudaArrayGetMemoryRequirements(&requirements, array, 0));
  EXPECT_EQ(cudaErrorInvalidValue,
            cudaMipmappedArrayGetMemoryRequirements(&requirements, levels, 0));
  EXPECT_EQ(cudaErrorInvalidValue, cudaArrayGetSparseProperties(&properties, array));
  EXPECT_EQ(cudaErrorInvalidValue, cudaMipmappedArrayGetSparseProperties(&properties, levels));
  EXPECT_EQ(7U, extent.width);
  EXPECT_EQ(7, channels.x);
  EXPECT_EQ(cudaSuccess, cudaFreeArray(nullptr));
  EXPECT_EQ(cudaSuccess, cudaFreeMipmappedArray(nullptr));
  cudaGetLastError();
}

TEST_F(RuntimeArrayTest, RowsGoInAndComeBack) {
  const cudaArray_t first = NewArray(16, 4);
  const cudaArray_t second = NewArray(16, 4);
  std::vector<std::uint32_t> in(64);
  std::iota(in.begin(), in.end(), 1u);
  std::vector<std::uint32_t> out(8);
  ASSERT_EQ(cudaMemcpy2DToArray(first, 0, 0, in.data(), 64, 64, 4, cudaMemcpyHostToDevice),
            cudaSuccess);
  ASSERT_EQ(cudaMemcpy2DArrayToArray(second, 8, 1, first, 16, 2, 16, 2, cudaMemcpyDeviceToDevice),
            cudaSuccess);
  ASSERT_EQ(cudaMemcpy2DFromArray(out.data(), 16, second, 8, 1, 16, 2, cudaMemcpyDefault),
            cudaSuccess);
  EXPECT_EQ(out[0], in[2 * 16 + 4]);
  EXPECT_EQ(out[7], in[3 * 16 + 7]);
  EXPECT_EQ(cudaMemcpy2DToArray(first, 4, 0, in.data(), 64, 64, 4, cudaMemcpyHostToDevice),
            cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemcpy2DToArray(first, 0, 0, in.data(), 60, 64, 4, cudaMemcpyHostToDevice),
            cudaErrorInvalidPitchValue);
  EXPECT_EQ(cudaMemcpy2DToArray(first, 0, 0, in.data(), 64, 64, 4, static_cast<cudaMemcpyKind>(7)),
            cudaErrorInvalidMemcpyDirection);
  EXPECT_NE(cudaMemcpy2DToArray(nullptr, 0, 0, in.data(), 64, 64, 4, cudaMemcpyDefault),
            cudaSuccess);
  EXPECT_EQ(cudaFreeArray(first), cudaSuccess);
  EXPECT_EQ(cudaFreeArray(second), cudaSuccess);
}

TEST_F(RuntimeArrayTest, BoxesCountInElements) {
  cudaArray_t array = nullptr;
  ASSERT_EQ(cudaMalloc3DArray(&array, &kFloat, {8, 4, 2}, 0), cudaSuccess);
  std::vector<std::uint32_t> in(64);
  std::iota(in.begin(), in.end(), 1u);
  cudaMemcpy3DParms up{};
  up.srcPtr = {in.data(), 32, 8, 4};
  up.dstArray = array;
  up.extent = {8, 4, 2};
  up.kind = cudaMemcpyHostToDevice;
  ASSERT_EQ(cudaMemcpy3D(&up), cudaSuccess);
  std::vector<std::uint32_t> out(4);
  cudaMemcpy3DParms down{};
  down.srcArray = array;
  down.srcPos = {3, 1, 1};
  down.dstPtr = {out.data(), 8, 2, 2};
  down.extent = {2, 2, 1};
  down.kind = cudaMemcpyDeviceToHost;
  ASSERT_EQ(cudaMemcpy3D(&down), cudaSuccess);
  EXPECT_EQ(out[0], in[32 + 8 + 3]);
  EXPECT_EQ(out[3], in[32 + 16 + 4]);
  cudaMemcpy3DPeerParms peer{};
  peer.srcArray = array;
  peer.dstPtr = {out.data(), 8, 2, 2};
  peer.extent = {2, 2, 1};
  EXPECT_EQ(cudaMemcpy3DPeer(&peer), cudaSuccess);
  EXPECT_EQ(out[0], in[0]);
  down.dstArray = array;
  EXPECT_EQ(cudaMemcpy3D(&down), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemcpy3D(nullptr), cudaErrorInvalidValue);
  EXPECT_EQ(cudaFreeArray(array), cudaSuccess);
}

TEST_F(RuntimeArrayTest, TexturesRememberTheirDescriptions) {
  void* memory = nullptr;
  ASSERT_EQ(cudaMalloc(&memory, 4096), cudaSuccess);
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypeLinear;
  resource.res.linear.devPtr = memory;
  resource.res.linear.desc = kFloat;
  resource.res.linear.sizeInBytes = 4096;
  cudaTextureDesc texture{};
  texture.readMode = cudaReadModeElementType;
  texture.normalizedCoords = 1;
  cudaTextureObject_t object = 0;
  ASSERT_EQ(cudaCreateTextureObject(&object, &resource, &texture, nullptr), cudaSuccess);
  cudaResourceDesc found{};
  ASSERT_EQ(cudaGetTextureObjectResourceDesc(&found, object), cudaSuccess);
  EXPECT_EQ(found.res.linear.devPtr, memory);
  EXPECT_EQ(found.res.linear.desc.f, cudaChannelFormatKindFloat);
  cudaTextureDesc sampled{};
  ASSERT_EQ(cudaGetTextureObjectTextureDesc(&sampled, object), cudaSuccess);
  EXPECT_EQ(sampled.normalizedCoords, 1);
  EXPECT_EQ(sampled.readMode, cudaReadModeElementType);
  EXPECT_EQ(sampled.sRGB, 0);
  EXPECT_EQ(cudaDestroyTextureObject(object), cudaSuccess);
  resource.res.linear.devPtr = static_cast<char*>(memory) + 256;  // not aligned for textures
  resource.res.linear.sizeInBytes = 256;
  EXPECT_EQ(cudaCreateTextureObject(&object, &resource, &texture, nullptr), cudaErrorInvalidValue);
  EXPECT_EQ(cudaFree(memory), cudaSuccess);
}

TEST_F(RuntimeArrayTest, SurfacesAreMadeOfArrays) {
  const cudaArray_t array = NewArray(16, 8, cudaArraySurfaceLoadStore);
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array;
  cudaSurfaceObject_t object = 0;
  ASSERT_EQ(cudaCreateSurfaceObject(&object, &resource), cudaSuccess);
  cudaResourceDesc found{};
  ASSERT_EQ(cudaGetSurfaceObjectResourceDesc(&found, object), cudaSuccess);
  EXPECT_EQ(found.res.array.array, array);
  EXPECT_EQ(cudaDestroySurfaceObject(object), cudaSuccess);
  EXPECT_EQ(cudaFreeArray(array), cudaSuccess);
}

TEST_F(RuntimeArrayTest, ImportedMemoryIsMappedAndFreed) {
  const int file = memfd_create("memory", MFD_CLOEXEC);
  ASSERT_EQ(ftruncate(file, 8192), 0);
  auto* shown = static_cast<unsigned char*>(mmap(nullptr, 8192, PROT_READ, MAP_SHARED, file, 0));
  ASSERT_NE(shown, MAP_FAILED);
  cudaExternalMemoryHandleDesc description{};
  description.type = cudaExternalMemoryHandleTypeOpaqueFd;
  description.handle.fd = file;
  description.size = 8192;
  cudaExternalMemory_t memory = nullptr;
  ASSERT_EQ(cudaImportExternalMemory(&memory, &description), cudaSuccess);
  cudaExternalMemoryBufferDesc buffer{};
  buffer.offset = 4096;
  buffer.size = 4096;
  void* pointer = nullptr;
  ASSERT_EQ(cudaExternalMemoryGetMappedBuffer(&pointer, memory, &buffer), cudaSuccess);
  EXPECT_EQ(cudaMemset(pointer, 6, 4096), cudaSuccess);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(shown[4095], 0);
  EXPECT_EQ(shown[8191], 6);
  EXPECT_EQ(cudaFree(pointer), cudaSuccess);
  EXPECT_EQ(cudaDestroyExternalMemory(memory), cudaSuccess);
  munmap(shown, 8192);
}

TEST_F(RuntimeArrayTest, LevelsBelongToTheirMipmap) {
  cudaMipmappedArray_t mipmap = nullptr;
  ASSERT_EQ(cudaMallocMipmappedArray(&mipmap, &kFloat, {16, 16, 0}, 3, 0), cudaSuccess);
  cudaArray_t level = nullptr;
  ASSERT_EQ(cudaGetMipmappedArrayLevel(&level, mipmap, 2), cudaSuccess);
  cudaExtent extent{};
  ASSERT_EQ(cudaArrayGetInfo(nullptr, &extent, nullptr, level), cudaSuccess);
  EXPECT_EQ(extent.width, 4u);
  EXPECT_EQ(cudaGetMipmappedArrayLevel(&level, mipmap, 3), cudaErrorInvalidValue);
  EXPECT_EQ(cudaFreeMipmappedArray(mipmap), cudaSuccess);
}

TEST_F(RuntimeArrayTest, GraphNodesKeepTheirArrays) {
  const cudaArray_t array = NewArray(16, 4);
  std::vector<std::uint32_t> in(8, 3);
  cudaMemcpy3DParms copy{};
  copy.srcPtr = {in.data(), 16, 4, 2};
  copy.dstArray = array;
  copy.dstPos = {8, 1, 0};
  copy.extent = {4, 2, 1};
  copy.kind = cudaMemcpyHostToDevice;
  cudaGraph_t graph = nullptr;
  cudaGraphNode_t node = nullptr;
  ASSERT_EQ(cudaGraphCreate(&graph, 0), cudaSuccess);
  ASSERT_EQ(cudaGraphAddMemcpyNode(&node, graph, nullptr, 0, &copy), cudaSuccess);
  cudaMemcpy3DParms told{};
  ASSERT_EQ(cudaGraphMemcpyNodeGetParams(node, &told), cudaSuccess);
  EXPECT_EQ(told.dstArray, array);
  EXPECT_EQ(told.dstPos.x, 8u);
  EXPECT_EQ(told.extent.width, 4u);
  EXPECT_EQ(told.srcArray, nullptr);
  EXPECT_EQ(told.srcPtr.ptr, in.data());
  copy.dstPtr = copy.srcPtr;  // an array and a pointer
  EXPECT_EQ(cudaGraphAddMemcpyNode(&node, graph, nullptr, 0, &copy), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGraphDestroy(graph), cudaSuccess);
  EXPECT_EQ(cudaFreeArray(array), cudaSuccess);
}

TEST_F(RuntimeArrayTest, SemaphoresOfOtherInterfacesWorkInStreamsAndGraphs) {
  const int file = memfd_create("semaphore", MFD_CLOEXEC);
  ASSERT_EQ(ftruncate(file, 8), 0);
  void* shown = mmap(nullptr, 8, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  const auto* value = static_cast<volatile unsigned long long*>(shown);
  cudaExternalSemaphoreHandleDesc description{};
  description.type = cudaExternalSemaphoreHandleTypeTimelineSemaphoreFd;
  description.handle.fd = file;
  cudaExternalSemaphore_t semaphore = nullptr;
  ASSERT_EQ(cudaImportExternalSemaphore(&semaphore, &description), cudaSuccess);
  cudaExternalSemaphoreSignalParams signal{};
  signal.params.fence.value = 3;
  EXPECT_EQ(cudaSignalExternalSemaphoresAsync(&semaphore, &signal, 1, nullptr), cudaSuccess);
  cudaExternalSemaphoreWaitParams wait{};
  wait.params.fence.value = 3;
  EXPECT_EQ(cudaWaitExternalSemaphoresAsync(&semaphore, &wait, 1, nullptr), cudaSuccess);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(*value, 3U);
  cudaGraph_t graph = nullptr;
  ASSERT_EQ(cudaGraphCreate(&graph, 0), cudaSuccess);
  signal.params.fence.value = 4;
  cudaGraphNodeParams wanted{};
  wanted.type = cudaGraphNodeTypeExtSemaphoreSignal;
  wanted.extSemSignal = {&semaphore, &signal, 1};
  cudaGraphNode_t node = nullptr;
  ASSERT_EQ(cudaGraphAddNode(&node, graph, nullptr, nullptr, 0, &wanted), cudaSuccess);
  cudaExternalSemaphoreSignalNodeParams told{};
  EXPECT_EQ(cudaGraphExternalSemaphoresSignalNodeGetParams(node, &told), cudaSuccess);
  EXPECT_EQ(told.paramsArray[0].params.fence.value, 4U);
  cudaGraphExec_t exec = nullptr;
  ASSERT_EQ(cudaGraphInstantiate(&exec, graph, 0), cudaSuccess);
  EXPECT_EQ(cudaGraphLaunch(exec, nullptr), cudaSuccess);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(*value, 4U);
  EXPECT_EQ(cudaGraphExecDestroy(exec), cudaSuccess);
  EXPECT_EQ(cudaGraphDestroy(graph), cudaSuccess);
  EXPECT_EQ(cudaDestroyExternalSemaphore(semaphore), cudaSuccess);
  munmap(shown, 8);
}

}  // namespace
