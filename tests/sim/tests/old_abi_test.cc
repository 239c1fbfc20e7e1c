// The first ABI of memory, with addresses and sizes of 32 bits.
#include <dlfcn.h>

#include <vector>

#include "tests/sim/tests/machine.h"

namespace cuheap::sim {
namespace {

// Headers name the later ABIs, so these are found by their exported names.
template <class Function>
Function* Old(const char* name) {
  auto* const found = reinterpret_cast<Function*>(dlsym(RTLD_DEFAULT, name));
  EXPECT_NE(nullptr, found) << name;
  return found;
}

class OldAbiTest : public Machine {
 protected:
  CUresult Take(unsigned* out, unsigned bytes) {
    return Old<CUresult(unsigned*, unsigned)>("cuMemAlloc")(out, bytes);
  }
  CUresult Free(unsigned block) { return Old<CUresult(unsigned)>("cuMemFree")(block); }
};

TEST_F(OldAbiTest, AllocationsLieBelow4GiBAndAreMemoryLikeAnyOther) {
  unsigned block = 0;
  ASSERT_CUDA(Take(&block, 3 * kMiB));
  EXPECT_EQ(4 * kMiB, cuheap_sim_used(0, CUHEAP_SIM_LINEAR));
  EXPECT_EQ(UsedByDriver(), UsedByList());
  unsigned base = 0;
  unsigned bytes = 0;
  ASSERT_CUDA(Old<CUresult(unsigned*, unsigned*, unsigned)>("cuMemGetAddressRange")(&base, &bytes,
                                                                                    block + 5));
  EXPECT_EQ(block, base);
  EXPECT_EQ(3 * kMiB, bytes);
  CUdeviceptr later = 0;
  ASSERT_CUDA(cuMemGetAddressRange(&later, nullptr, block));
  EXPECT_EQ(block, later);
  EXPECT_CUDA(Free(block));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, Free(block));
  EXPECT_EQ(0U, cuheap_sim_used(0, CUHEAP_SIM_LINEAR));
}

TEST_F(OldAbiTest, SizesAreCutToTheLargestNumber) {
  unsigned bytes = 0;
  unsigned total = 0;
  ASSERT_CUDA(Old<CUresult(unsigned*, CUdevice)>("cuDeviceTotalMem")(&bytes, 0));
  EXPECT_EQ(UINT32_MAX, bytes);  // of 4 GiB
  ASSERT_CUDA(Old<CUresult(unsigned*, unsigned*)>("cuMemGetInfo")(&bytes, &total));
  EXPECT_EQ(UINT32_MAX, total);
  EXPECT_EQ(4 * kGiB - 256 * kMiB, bytes);
}

TEST_F(OldAbiTest, NothingAndTooMuchAreRefused) {
  unsigned block = 7;
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, Take(&block, 0));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, Take(nullptr, 100));
  EXPECT_EQ(CUDA_ERROR_OUT_OF_MEMORY, Take(&block, UINT32_MAX));
  unsigned pitch = 8;
  const auto take_rows =
      Old<CUresult(unsigned*, unsigned*, unsigned, unsigned, unsigned)>("cuMemAllocPitch");
  EXPECT_EQ(CUDA_ERROR_OUT_OF_MEMORY, take_rows(&block, &pitch, UINT32_MAX, UINT32_MAX, 4));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, take_rows(&block, &pitch, 100, 10, 5));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, take_rows(&block, &pitch, 0, 10, 4));
  EXPECT_EQ(7U, block);
  EXPECT_EQ(8U, pitch);
  EXPECT_EQ(0U, cuheap_sim_used(0, CUHEAP_SIM_LINEAR));
}

TEST_F(OldAbiTest, TheRoomBelow4GiBEndsAndComesBack) {
  std::vector<unsigned> blocks;
  unsigned block = 0;
  while (Take(&block, 256 * kMiB) == CUDA_SUCCESS) blocks.push_back(block);
  EXPECT_GE(blocks.size(), 2U);
  EXPECT_LE(blocks.size(), 16U);
  for (const unsigned live : blocks) EXPECT_CUDA(Free(live));
  EXPECT_CUDA(Take(&block, 256 * kMiB));
  EXPECT_CUDA(Free(block));
}

TEST_F(OldAbiTest, SetsAndCopiesReachIt) {
  unsigned block = 0;
  unsigned pitch = 0;
  ASSERT_CUDA((Old<CUresult(unsigned*, unsigned*, unsigned, unsigned, unsigned)>("cuMemAllocPitch")(
      &block, &pitch, 100, 4, 4)));
  EXPECT_EQ(512U, pitch);
  ASSERT_CUDA((Old<CUresult(unsigned, unsigned, unsigned char, unsigned, unsigned)>("cuMemsetD2D8")(
      block, pitch, 7, 100, 4)));
  ASSERT_CUDA((Old<CUresult(unsigned, unsigned, unsigned)>("cuMemsetD32")(block, 0x01020304, 1)));
  unsigned words[2] = {};
  ASSERT_CUDA((Old<CUresult(void*, unsigned, unsigned)>("cuMemcpyDtoH")(words, block, 8)));
  EXPECT_EQ(0x01020304U, words[0]);
  EXPECT_EQ(0x07070707U, words[1]);
  ASSERT_CUDA((Old<CUresult(unsigned, const void*, unsigned)>("cuMemcpyHtoD")(block, words, 8)));
  ASSERT_CUDA((Old<CUresult(unsigned, unsigned, unsigned)>("cuMemcpyDtoD")(block + 8, block, 8)));
  ASSERT_CUDA((Old<CUresult(void*, unsigned, unsigned)>("cuMemcpyDtoH")(words, block + 8, 4)));
  EXPECT_EQ(0x01020304U, words[0]);
  EXPECT_CUDA(Free(block));
}

// CUDA_MEMCPY2D_v1, which the headers keep to themselves.
struct OldPlane {
  unsigned from_x, from_y;
  CUmemorytype from_type;
  const void* from_host;
  unsigned from_device;
  CUarray from_array;
  unsigned from_pitch;
  unsigned to_x, to_y;
  CUmemorytype to_type;
  void* to_host;
  unsigned to_device;
  CUarray to_array;
  unsigned to_pitch;
  unsigned width, height;
};

TEST_F(OldAbiTest, PlanesAreCopied) {
  unsigned block = 0;
  ASSERT_CUDA(Take(&block, 4096));
  ASSERT_CUDA((Old<CUresult(unsigned, unsigned char, unsigned)>("cuMemsetD8")(block, 9, 4096)));
  char rows[20] = {};
  OldPlane plane{};
  plane.from_type = CU_MEMORYTYPE_DEVICE;
  plane.from_device = block;
  plane.from_pitch = 64;
  plane.to_type = CU_MEMORYTYPE_HOST;
  plane.to_host = rows;
  plane.to_pitch = 10;
  plane.width = 10;
  plane.height = 2;
  const auto copy = Old<CUresult(const OldPlane*)>("cuMemcpy2D");
  ASSERT_CUDA(copy(&plane));
  EXPECT_EQ(9, rows[0]);
  EXPECT_EQ(9, rows[19]);
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, copy(nullptr));
  EXPECT_CUDA(Free(block));
}

TEST_F(OldAbiTest, TheFirstContextsAreLikeTheLater) {
  CUcontext own = nullptr;
  CUcontext current = nullptr;
  ASSERT_CUDA((Old<CUresult(CUcontext*, unsigned, CUdevice)>("cuCtxCreate")(&own, 0, 0)));
  EXPECT_CUDA(cuCtxGetCurrent(&current));
  EXPECT_EQ(own, current);
  EXPECT_CUDA((Old<CUresult(CUcontext)>("cuCtxDestroy")(own)));
}

TEST_F(OldAbiTest, AddressesThatDoNotFitAreRefused) {
  void* pinned = nullptr;
  ASSERT_CUDA((Old<CUresult(void**, unsigned)>("cuMemAllocHost")(&pinned, 4096)));
  unsigned device = 7;
  EXPECT_EQ(
      CUDA_ERROR_INVALID_VALUE,
      (Old<CUresult(unsigned*, void*, unsigned)>("cuMemHostGetDevicePointer")(&device, pinned, 0)));
  EXPECT_EQ(7U, device);
  EXPECT_CUDA(cuMemFreeHost(pinned));
  CUmodule module = nullptr;
  ASSERT_CUDA(cuModuleLoadData(&module, "image"));
  ASSERT_EQ(0, cuheap_sim_declare_global(module, "table", 100));
  unsigned bytes = 0;
  const auto global =
      Old<CUresult(unsigned*, unsigned*, CUmodule, const char*)>("cuModuleGetGlobal");
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, global(&device, &bytes, module, "table"));
  EXPECT_EQ(0U, bytes);
  ASSERT_CUDA(global(nullptr, &bytes, module, "table"));
  EXPECT_EQ(100U, bytes);
  EXPECT_CUDA(cuModuleUnload(module));
}

struct OldArrayDescriptor {
  unsigned width;
  unsigned height;
  CUarray_format format;
  unsigned channels;
};

TEST_F(OldAbiTest, ArraysAreTheSameByNumbersOf32Bits) {
  const OldArrayDescriptor description{64, 0, CU_AD_FORMAT_FLOAT, 1};
  CUarray array = nullptr;
  ASSERT_CUDA(
      (Old<CUresult(CUarray*, const OldArrayDescriptor*)>("cuArrayCreate")(&array, &description)));
  OldArrayDescriptor found{};
  ASSERT_CUDA((Old<CUresult(OldArrayDescriptor*, CUarray)>("cuArrayGetDescriptor")(&found, array)));
  EXPECT_EQ(64U, found.width);
  unsigned block = 0;
  ASSERT_CUDA(Take(&block, 256));
  const unsigned in[2] = {5, 6};
  unsigned out = 0;
  ASSERT_CUDA(
      (Old<CUresult(CUarray, unsigned, const void*, unsigned)>("cuMemcpyHtoA")(array, 8, in, 8)));
  ASSERT_CUDA(
      (Old<CUresult(unsigned, CUarray, unsigned, unsigned)>("cuMemcpyAtoD")(block, array, 12, 4)));
  ASSERT_CUDA(
      (Old<CUresult(CUarray, unsigned, unsigned, unsigned)>("cuMemcpyDtoA")(array, 0, block, 4)));
  ASSERT_CUDA(
      (Old<CUresult(void*, CUarray, unsigned, unsigned)>("cuMemcpyAtoH")(&out, array, 0, 4)));
  EXPECT_EQ(6U, out);
  EXPECT_CUDA(Free(block));
  EXPECT_CUDA(cuArrayDestroy(array));
}

}  // namespace
}  // namespace cuheap::sim
