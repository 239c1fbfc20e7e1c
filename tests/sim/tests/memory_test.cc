#include <algorithm>
#include <cstring>
#include <vector>

#include "tests/sim/tests/machine.h"

namespace cuheap::sim {
namespace {

using MemoryTest = Machine;

TEST_F(MemoryTest, LargeBlocksTakeWholePagesAndAreAlignedToThem) {
  const CUdeviceptr block = Alloc(3 * kMiB);
  EXPECT_EQ(0U, block % (2 * kMiB));
  EXPECT_EQ(4 * kMiB, cuheap_sim_used(0, CUHEAP_SIM_LINEAR));
  EXPECT_EQ(3 * kMiB, cuheap_sim_live_bytes(0, CUHEAP_SIM_LINEAR));
  EXPECT_CUDA(cuMemFree(block));
}

TEST_F(MemoryTest, SmallBlocksShareAPageInUnitsOf512) {
  const CUdeviceptr first = Alloc(1);
  const CUdeviceptr second = Alloc(513);
  const CUdeviceptr third = Alloc(100);
  EXPECT_EQ(first + 512, second);
  EXPECT_EQ(second + 1024, third);
  EXPECT_EQ(2 * kMiB, cuheap_sim_used(0, CUHEAP_SIM_LINEAR));
  for (const CUdeviceptr block : {first, second, third}) EXPECT_CUDA(cuMemFree(block));
  EXPECT_EQ(0U, cuheap_sim_used(0, CUHEAP_SIM_LINEAR));
}

TEST_F(MemoryTest, CapacityEndsInOutOfMemoryAndLeavesTheOutParameterAlone) {
  std::vector<CUdeviceptr> blocks;
  CUdeviceptr block = 0;
  while (cuMemAlloc(&block, 256 * kMiB) == CUDA_SUCCESS) blocks.push_back(block);
  EXPECT_EQ(15U, blocks.size());  // 4 GiB less the context's 256 MiB
  block = 77;
  EXPECT_EQ(CUDA_ERROR_OUT_OF_MEMORY, cuMemAlloc(&block, 2 * kMiB));
  EXPECT_EQ(77U, block);
  for (const CUdeviceptr live : blocks) EXPECT_CUDA(cuMemFree(live));
  EXPECT_CUDA(cuMemAlloc(&block, 3 * kGiB));
  EXPECT_CUDA(cuMemFree(block));
}

TEST_F(MemoryTest, ScatteredPagesStillMakeOneContiguousBlock) {
  std::vector<CUdeviceptr> blocks;
  CUdeviceptr block = 0;
  while (cuMemAlloc(&block, 128 * kMiB) == CUDA_SUCCESS) blocks.push_back(block);
  for (std::size_t i = 0; i < blocks.size(); i += 2) EXPECT_CUDA(cuMemFree(blocks[i]));
  block = Alloc(512 * kMiB);
  ASSERT_CUDA(cuMemsetD32(block, 0x01020304, 512 * kMiB / 4));
  std::uint32_t last = 0;
  ASSERT_CUDA(cuMemcpyDtoH(&last, block + 512 * kMiB - 4, 4));
  EXPECT_EQ(0x01020304U, last);
  EXPECT_CUDA(cuMemFree(block));
  for (std::size_t i = 1; i < blocks.size(); i += 2) EXPECT_CUDA(cuMemFree(blocks[i]));
}

TEST_F(MemoryTest, EveryFigureOfUseAgrees) {
  const CUdeviceptr small = Alloc(1000);
  const CUdeviceptr large = Alloc(100 * kMiB);
  CUdeviceptr pooled = 0;
  ASSERT_CUDA(cuMemAllocAsync(&pooled, 5 * kMiB, nullptr));
  EXPECT_EQ(UsedByDriver(), UsedByList());
  EXPECT_EQ(256 * kMiB, cuheap_sim_used(0, CUHEAP_SIM_CONTEXT));
  EXPECT_EQ(102 * kMiB, cuheap_sim_used(0, CUHEAP_SIM_LINEAR));
  EXPECT_EQ(32 * kMiB, cuheap_sim_used(0, CUHEAP_SIM_POOL));
  EXPECT_CUDA(cuMemFreeAsync(pooled, nullptr));
  EXPECT_CUDA(cuMemFree(small));
  EXPECT_CUDA(cuMemFree(large));
  EXPECT_EQ(UsedByDriver(), UsedByList());
}

TEST_F(MemoryTest, FreeRefusesWhatIsNotTheStartOfALiveBlock) {
  const CUdeviceptr block = Alloc(4 * kMiB);
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemFree(block + 512));
  EXPECT_CUDA(cuMemFree(block));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemFree(block));
  EXPECT_CUDA(cuMemFree(0));
}

TEST_F(MemoryTest, ZeroBytesAreRefused) {
  CUdeviceptr block = 5;
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemAlloc(&block, 0));
  EXPECT_EQ(5U, block);
}

TEST_F(MemoryTest, MemGetInfoAcceptsNullOutputs) {
  std::size_t total = 0;
  EXPECT_CUDA(cuMemGetInfo(nullptr, &total));
  EXPECT_EQ(4 * kGiB, total);
  EXPECT_CUDA(cuMemGetInfo(nullptr, nullptr));
}

TEST_F(MemoryTest, CopiesOfAFreedBlockAreRefused) {
  const CUdeviceptr block = Alloc(4 * kMiB);
  EXPECT_CUDA(cuMemFree(block));
  char byte = 0;
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemcpyDtoH(&byte, block, 1));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemsetD8(block, 0, 1));
}

TEST_F(MemoryTest, CopiesPastTheEndOfABlockAreRefused) {
  const CUdeviceptr block = Alloc(2 * kMiB);
  const CUdeviceptr neighbour = Alloc(2 * kMiB);
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemsetD8(block, 0, 2 * kMiB + 1));
  EXPECT_CUDA(cuMemFree(neighbour));
  EXPECT_CUDA(cuMemFree(block));
}

TEST_F(MemoryTest, ZeroingClearsWhatWasWritten) {
  const CUdeviceptr block = Alloc(8 * kMiB);
  ASSERT_CUDA(cuMemsetD8(block, 0xAB, 8 * kMiB));
  ASSERT_CUDA(cuMemsetD8(block + 3, 0, 8 * kMiB - 6));
  std::vector<unsigned char> bytes(8 * kMiB);
  ASSERT_CUDA(cuMemcpyDtoH(bytes.data(), block, bytes.size()));
  EXPECT_EQ(0xAB, bytes[2]);
  EXPECT_EQ(0, bytes[3]);
  EXPECT_TRUE(std::all_of(bytes.begin() + 3, bytes.end() - 3, [](int b) { return b == 0; }));
  EXPECT_EQ(0xAB, bytes[bytes.size() - 3]);
  EXPECT_CUDA(cuMemFree(block));
}

TEST_F(MemoryTest, NoPitchIsWiderThanCopiesTake) {
  CUdeviceptr block = 5;
  size_t pitch = 7;
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemAllocPitch(&block, &pitch, 3 * kGiB, 1, 4));
  EXPECT_EQ(5U, block);
  EXPECT_EQ(7U, pitch);
}

TEST_F(MemoryTest, ABatchSaysWhichCopyIsAtFault) {
  void* entry = nullptr;
  ASSERT_CUDA(cuGetProcAddress("cuMemcpyBatchAsync", &entry, 12080, 0, nullptr));
  const auto batch =
      reinterpret_cast<CUresult (*)(CUdeviceptr*, CUdeviceptr*, size_t*, size_t,
                                    CUmemcpyAttributes*, size_t*, size_t, size_t*, CUstream)>(
          entry);
  const CUdeviceptr block = Alloc(4096);
  CUstream stream = nullptr;
  ASSERT_CUDA(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  CUdeviceptr to[] = {block, 0};
  CUdeviceptr from[] = {block + 1024, block + 2048};
  size_t bytes[] = {512, 512};
  CUmemcpyAttributes attributes{};
  attributes.srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM;
  size_t index = 0;
  size_t failed = 7;
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE,
            batch(to, from, bytes, 2, &attributes, &index, 1, &failed, stream));
  EXPECT_EQ(1U, failed);
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE,
            batch(to, from, bytes, 2, &attributes, &index, 1, &failed, nullptr));
  EXPECT_EQ(SIZE_MAX, failed);
  EXPECT_CUDA(cuStreamDestroy(stream));
  EXPECT_CUDA(cuMemFree(block));
}

TEST_F(MemoryTest, PitchedCopiesMoveOnlyTheBox) {
  const CUdeviceptr block = Alloc(4096);
  ASSERT_CUDA(cuMemsetD2D8(block, 64, 7, 10, 4));
  unsigned char out[40] = {};
  CUDA_MEMCPY2D copy{};
  copy.srcMemoryType = CU_MEMORYTYPE_DEVICE;
  copy.srcDevice = block;
  copy.srcPitch = 64;
  copy.dstMemoryType = CU_MEMORYTYPE_HOST;
  copy.dstHost = out;
  copy.dstPitch = 10;
  copy.WidthInBytes = 10;
  copy.Height = 4;
  ASSERT_CUDA(cuMemcpy2D(&copy));
  EXPECT_TRUE(std::all_of(out, out + 40, [](int b) { return b == 7; }));
  copy.dstPitch = 5;
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemcpy2D(&copy));
  EXPECT_CUDA(cuMemFree(block));
}

TEST_F(MemoryTest, BufferIdsNeverRepeatAlthoughAddressesDo) {
  const CUdeviceptr first = Alloc(2 * kMiB);
  unsigned long long first_id = 0;
  ASSERT_CUDA(cuPointerGetAttribute(&first_id, CU_POINTER_ATTRIBUTE_BUFFER_ID, first));
  EXPECT_CUDA(cuMemFree(first));
  const CUdeviceptr second = Alloc(2 * kMiB);
  EXPECT_EQ(first, second);
  unsigned long long second_id = 0;
  ASSERT_CUDA(cuPointerGetAttribute(&second_id, CU_POINTER_ATTRIBUTE_BUFFER_ID, second));
  EXPECT_NE(first_id, second_id);
  EXPECT_CUDA(cuMemFree(second));
}

TEST_F(MemoryTest, AddressRangeNamesTheBlockAndNotItsPage) {
  const CUdeviceptr block = Alloc(700);
  CUdeviceptr base = 0;
  std::size_t bytes = 0;
  ASSERT_CUDA(cuMemGetAddressRange(&base, &bytes, block + 699));
  EXPECT_EQ(block, base);
  EXPECT_EQ(700U, bytes);
  EXPECT_EQ(CUDA_ERROR_NOT_FOUND, cuMemGetAddressRange(&base, &bytes, block + 700));
  EXPECT_CUDA(cuMemFree(block));
}

TEST_F(MemoryTest, PinnedAndRegisteredMemoryAreToldApart) {
  void* pinned = nullptr;
  ASSERT_CUDA(cuMemHostAlloc(&pinned, 1000, CU_MEMHOSTALLOC_PORTABLE));
  std::vector<char> own(8192);
  ASSERT_CUDA(cuMemHostRegister(own.data(), own.size(), 0));
  EXPECT_EQ(1000U + 8192U, cuheap_sim_pinned());
  EXPECT_EQ(CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED, cuMemHostRegister(own.data() + 10, 10, 0));
  unsigned type = 0;
  ASSERT_CUDA(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
                                    reinterpret_cast<CUdeviceptr>(own.data())));
  EXPECT_EQ(static_cast<unsigned>(CU_MEMORYTYPE_HOST), type);
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemFreeHost(own.data()));
  EXPECT_EQ(CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED, cuMemHostUnregister(pinned));
  EXPECT_CUDA(cuMemHostUnregister(own.data()));
  EXPECT_CUDA(cuMemFreeHost(pinned));
}

TEST_F(MemoryTest, DeclaredGlobalsTakeStaticMemory) {
  CUmodule module = nullptr;
  ASSERT_CUDA(cuModuleLoadData(&module, "image"));
  CUdeviceptr address = 0;
  std::size_t bytes = 0;
  EXPECT_EQ(CUDA_ERROR_NOT_FOUND, cuModuleGetGlobal(&address, &bytes, module, "table"));
  EXPECT_EQ(0, cuheap_sim_declare_global(module, "table", 4000));
  ASSERT_CUDA(cuModuleGetGlobal(&address, &bytes, module, "table"));
  EXPECT_EQ(4000U, bytes);
  EXPECT_EQ(2 * kMiB, cuheap_sim_used(0, CUHEAP_SIM_STATIC));
  EXPECT_CUDA(cuModuleUnload(module));
  EXPECT_EQ(0U, cuheap_sim_used(0, CUHEAP_SIM_STATIC));
}

TEST_F(MemoryTest, SetsTouchOnlyWhatTheDriverKnows) {
  unsigned char own[64] = {};
  const auto address = reinterpret_cast<CUdeviceptr>(own);
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemsetD8(address, 1, sizeof own));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemsetD8Async(address, 1, sizeof own, nullptr));
  EXPECT_EQ(0, own[0]);
  ASSERT_CUDA(cuMemHostRegister(own, sizeof own, 0));
  EXPECT_CUDA(cuMemsetD8(address, 1, sizeof own));
  EXPECT_EQ(1, own[63]);
  EXPECT_CUDA(cuMemHostUnregister(own));
}

TEST_F(MemoryTest, LengthsThatGoRoundTheEndOfAddressesAreRefused) {
  std::vector<unsigned char> own(8192);
  const auto address = reinterpret_cast<CUdeviceptr>(own.data());
  for (const std::uint64_t from_the_end :
       {std::uint64_t{0}, std::uint64_t{4095}, std::uint64_t{address}}) {
    const std::size_t bytes = ~from_the_end;
    EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemcpy(address, address, bytes)) << bytes;
    EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemsetD8(address, 1, bytes)) << bytes;
  }
  CUDA_MEMCPY2D box{};
  const CUdeviceptr block = Alloc(4096);
  box.srcMemoryType = box.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  box.srcDevice = block;
  box.dstDevice = block + 2048;
  box.srcPitch = box.dstPitch = 64;
  box.WidthInBytes = 64;
  box.Height = 1;
  box.srcY = std::size_t{1} << 58;  // times the pitch it is 0
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemcpy2D(&box));
  EXPECT_CUDA(cuMemFree(block));
}

TEST_F(MemoryTest, FreedMemoryIsGivenOutAgainTheLowestFirstOrTheLatest) {
  for (const std::size_t bytes : {std::size_t{1024}, 4 * kMiB}) {
    for (const int latest : {0, 1}) {
      cuheap_sim_reuse_latest_first(latest);
      std::vector<CUdeviceptr> all;
      for (int i = 0; i < 6; ++i) all.push_back(Alloc(bytes));
      const CUdeviceptr a = all[0];
      const CUdeviceptr b = all[2];
      const CUdeviceptr c = all[4];
      for (const CUdeviceptr block : {a, c, b}) EXPECT_CUDA(cuMemFree(block));
      EXPECT_EQ(Alloc(bytes), latest != 0 ? b : a);
      EXPECT_EQ(Alloc(bytes), latest != 0 ? c : b);
      EXPECT_EQ(Alloc(bytes), latest != 0 ? a : c);
      for (const CUdeviceptr block : all) EXPECT_CUDA(cuMemFree(block));
    }
  }
  cuheap_sim_reuse_latest_first(0);
  EXPECT_EQ(UsedByDriver(), UsedByList());
}

}  // namespace
}  // namespace cuheap::sim
