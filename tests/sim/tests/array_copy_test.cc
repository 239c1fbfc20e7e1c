// Copies from and to arrays, and what the rest of the machine sees of them.
#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include "tests/sim/tests/arrays.h"

namespace cuheap::sim {
namespace {

class ArrayCopyTest : public WithArrays {
 protected:
  static std::vector<std::uint32_t> Counted(std::size_t count) {
    std::vector<std::uint32_t> values(count);
    std::iota(values.begin(), values.end(), 1U);
    return values;
  }
};

TEST_F(ArrayCopyTest, ABoxGoesInAndComesBack) {
  const CUarray array = NewArray(Floats(10, 6, 4));
  const auto in = Counted(10 * 6 * 4);
  const CUDA_MEMCPY3D up = Upload(in.data(), array, 40, 6, 4);
  ASSERT_CUDA(cuMemcpy3D(&up));
  std::vector<std::uint32_t> out(2 * 3 * 2);
  CUDA_MEMCPY3D down = Download(array, out.data(), 8, 3, 2);
  down.srcXInBytes = 3 * 4;
  down.srcY = 2;
  down.srcZ = 1;
  ASSERT_CUDA(cuMemcpy3D(&down));
  for (std::size_t z = 0; z < 2; ++z) {
    for (std::size_t y = 0; y < 3; ++y) {
      for (std::size_t x = 0; x < 2; ++x) {
        EXPECT_EQ(in[((z + 1) * 6 + y + 2) * 10 + x + 3], out[(z * 3 + y) * 2 + x]);
      }
    }
  }
  EXPECT_CUDA(cuArrayDestroy(array));
}

TEST_F(ArrayCopyTest, RowsOfOneDimensionGoEveryWay) {
  const CUarray first = NewArray(Floats(64));
  const CUarray second = NewArray(Floats(64));
  const CUdeviceptr block = Alloc(512);
  const auto in = Counted(64);
  std::vector<std::uint32_t> out(64);
  ASSERT_CUDA(cuMemcpyHtoA(first, 0, in.data(), 256));
  ASSERT_CUDA(cuMemcpyAtoA(second, 16, first, 32, 128));
  ASSERT_CUDA(cuMemcpyAtoD(block, second, 16, 128));
  ASSERT_CUDA(cuMemcpyDtoA(second, 128, block, 128));
  ASSERT_CUDA(cuMemcpyAtoH(out.data(), second, 128, 128));
  EXPECT_TRUE(std::equal(out.begin(), out.begin() + 32, in.begin() + 8));
  const CUstream stream = NewStream();
  ASSERT_CUDA(cuMemcpyHtoAAsync(first, 0, out.data(), 128, stream));
  ASSERT_CUDA(cuMemcpyAtoHAsync(out.data(), first, 4, 4, stream));
  ASSERT_CUDA(cuStreamSynchronize(stream));
  EXPECT_EQ(in[9], out[0]);
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemcpyHtoA(first, 0, in.data(), 257));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemcpyHtoA(first, SIZE_MAX - 3, in.data(), 8));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemcpyHtoA(first, 2, in.data(), 4));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemcpyAtoD(block + 1, first, 0, 4));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemcpyAtoD(block, first, 0, 6));
  EXPECT_EQ(CUDA_ERROR_INVALID_HANDLE, cuMemcpyAtoD(block, nullptr, 0, 4));
  const CUarray flat = NewArray(Floats(4, 4));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemcpyHtoA(flat, 0, in.data(), 4));
  EXPECT_CUDA(cuStreamDestroy(stream));
  EXPECT_CUDA(cuMemFree(block));
  for (const CUarray array : {first, second, flat}) EXPECT_CUDA(cuArrayDestroy(array));
}

TEST_F(ArrayCopyTest, BoxesThatDoNotFitAreRefused) {
  const CUarray array = NewArray(Floats(10, 6, 4));
  const CUarray bytes = NewArray({40, 6, 4, CU_AD_FORMAT_UNSIGNED_INT8, 1, 0});
  std::vector<std::uint32_t> host(10 * 6 * 4);
  const CUDA_MEMCPY3D good = Upload(host.data(), array, 40, 6, 4);
  const auto refused = [&](auto change, CUresult code = CUDA_ERROR_INVALID_VALUE) {
    CUDA_MEMCPY3D box = good;
    change(box);
    EXPECT_EQ(code, cuMemcpy3D(&box));
  };
  ASSERT_CUDA(cuMemcpy3D(&good));
  refused([](auto& box) { box.dstXInBytes = 4; });
  refused([](auto& box) { box.dstXInBytes = 2, box.WidthInBytes = 4; });  // inside an element
  refused([](auto& box) { box.dstY = 1; });
  refused([](auto& box) { box.dstZ = SIZE_MAX; });
  refused([](auto& box) { box.dstLOD = 1; });
  refused([](auto& box) { box.srcPitch = 39; });
  refused([](auto& box) { box.srcPitch = std::size_t{1} << 31; });  // above MAX_PITCH
  refused([](auto& box) { box.srcHeight = 5; });
  refused([](auto& box) { box.srcHeight = 0; });
  refused([](auto& box) { box.dstMemoryType = CUmemorytype{}; });
  refused([](auto& box) { box.dstArray = nullptr; }, CUDA_ERROR_INVALID_HANDLE);
  refused([&](auto& box) {  // elements of another size
    box.srcMemoryType = CU_MEMORYTYPE_ARRAY;
    box.srcArray = bytes;
  });
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemcpy3D(nullptr));
  EXPECT_CUDA(cuArrayDestroy(bytes));
  EXPECT_CUDA(cuArrayDestroy(array));
}

TEST_F(ArrayCopyTest, AGraphNodeKeepsItsArrayAndReplaysIntoIt) {
  const CUarray array = NewArray(Floats(16, 2));
  void* memory = nullptr;
  ASSERT_CUDA(cuMemAllocHost(&memory, 128));
  auto* host = static_cast<std::uint32_t*>(memory);
  std::fill(host, host + 32, 5U);
  CUgraph graph = nullptr;
  ASSERT_CUDA(cuGraphCreate(&graph, 0));
  CUgraphNode node = nullptr;
  CUDA_MEMCPY3D up = Upload(host, array, 16, 2, 1);
  up.dstXInBytes = 8;
  ASSERT_CUDA(cuGraphAddMemcpyNode(&node, graph, nullptr, 0, &up, context_));
  CUDA_MEMCPY3D found{};
  ASSERT_CUDA(cuGraphMemcpyNodeGetParams(node, &found));
  EXPECT_EQ(CU_MEMORYTYPE_ARRAY, found.dstMemoryType);
  EXPECT_EQ(array, found.dstArray);
  EXPECT_EQ(8U, found.dstXInBytes);
  CUgraphExec exec = nullptr;
  ASSERT_CUDA(cuGraphInstantiate(&exec, graph, 0));
  const CUstream stream = NewStream();
  ASSERT_CUDA(cuGraphLaunch(exec, stream));
  ASSERT_CUDA(cuStreamSynchronize(stream));
  std::uint32_t out[32] = {};
  const CUDA_MEMCPY3D down = Download(array, out, 64, 2, 1);
  ASSERT_CUDA(cuMemcpy3D(&down));
  EXPECT_EQ(5U, out[2]);
  EXPECT_EQ(5U, out[16 + 5]);
  EXPECT_CUDA(cuGraphExecDestroy(exec));
  EXPECT_CUDA(cuGraphDestroy(graph));
  EXPECT_CUDA(cuStreamDestroy(stream));
  EXPECT_CUDA(cuMemFreeHost(host));
  EXPECT_CUDA(cuArrayDestroy(array));
}

TEST_F(ArrayCopyTest, BatchesCountInElementsAndAreAllOrNothing) {
  const CUarray array = NewArray(Floats(16, 4));
  const auto in = Counted(64);
  CUDA_MEMCPY3D_BATCH_OP list[2] = {};
  for (auto& operation : list) {
    operation.src.type = CU_MEMCPY_OPERAND_TYPE_POINTER;
    operation.src.op.ptr.ptr = reinterpret_cast<CUdeviceptr>(in.data());
    operation.dst.type = CU_MEMCPY_OPERAND_TYPE_ARRAY;
    operation.dst.op.array.array = array;
    operation.extent = {4, 2, 1};
    operation.srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_DURING_API_CALL;
  }
  list[1].dst.op.array.offset = {8, 2, 0};
  list[1].src.op.ptr.rowLength = 16;
  const CUstream stream = NewStream();
  ASSERT_CUDA(cuMemcpy3DBatchAsync(2, list, 0, stream));
  ASSERT_CUDA(cuStreamSynchronize(stream));
  std::uint32_t out[64] = {};
  const CUDA_MEMCPY3D down = Download(array, out, 64, 4, 1);
  ASSERT_CUDA(cuMemcpy3D(&down));
  EXPECT_EQ(in[4], out[16]);
  EXPECT_EQ(in[16 + 3], out[3 * 16 + 11]);
  list[1].dst.op.array.offset = {13, 2, 0};
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemcpy3DBatchAsync(2, list, 0, stream));
  list[1].dst.op.array.offset = {};
  list[1].srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_INVALID;
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemcpy3DBatchAsync(2, list, 0, stream));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemcpy3DBatchAsync(1, list, 1, stream));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemcpy3DBatchAsync(0, list, 0, stream));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemcpy3DBatchAsync(1, nullptr, 0, stream));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemcpy3DBatchAsync(1, list, 0, nullptr));
  EXPECT_CUDA(cuStreamDestroy(stream));
  EXPECT_CUDA(cuArrayDestroy(array));
}

TEST_F(ArrayCopyTest, PinnedSourcesThatEndWithTheCallAreReadInIt) {
  void* memory = nullptr;
  ASSERT_CUDA(cuMemAllocHost(&memory, 4));
  auto* pinned = static_cast<std::uint32_t*>(memory);
  *pinned = 1;
  CUdeviceptr to = Alloc(4);
  CUdeviceptr from = reinterpret_cast<CUdeviceptr>(pinned);
  std::size_t bytes = 4;
  std::size_t index = 0;
  CUmemcpyAttributes attributes{};
  attributes.srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_DURING_API_CALL;
  const CUstream stream = NewStream();
  ASSERT_CUDA(cuMemcpyBatchAsync(&to, &from, &bytes, 1, &attributes, &index, 1, stream));
  *pinned = 2;
  std::uint32_t out = 0;
  ASSERT_CUDA(cuStreamSynchronize(stream));
  ASSERT_CUDA(cuMemcpyDtoH(&out, to, 4));
  EXPECT_EQ(1U, out);
  index = 1;
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE,
            cuMemcpyBatchAsync(&to, &from, &bytes, 1, &attributes, &index, 1, stream));
  EXPECT_CUDA(cuStreamDestroy(stream));
  EXPECT_CUDA(cuMemFree(to));
  EXPECT_CUDA(cuMemFreeHost(pinned));
}

TEST_F(ArrayCopyTest, CopiesBetweenContextsNeedThem) {
  const CUarray array = NewArray(Floats(4));
  std::uint32_t host[4] = {1, 2, 3, 4};
  CUDA_MEMCPY3D_PEER box{};
  box.srcMemoryType = CU_MEMORYTYPE_HOST;
  box.srcHost = host;
  box.srcContext = context_;
  box.dstMemoryType = CU_MEMORYTYPE_ARRAY;
  box.dstArray = array;
  box.WidthInBytes = 16;
  box.Height = box.Depth = 1;
  EXPECT_CUDA(cuMemcpy3DPeer(&box));
  box.srcContext = reinterpret_cast<CUcontext>(8);
  EXPECT_EQ(CUDA_ERROR_INVALID_CONTEXT, cuMemcpy3DPeer(&box));
  EXPECT_CUDA(cuArrayDestroy(array));
}

}  // namespace
}  // namespace cuheap::sim
