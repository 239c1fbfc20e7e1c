#include <dlfcn.h>

#include "tests/sim/tests/machine.h"

namespace cuheap::sim {
namespace {

using EntryPointTest = Machine;

void* Look(const char* name, int version, cuuint64_t flags = 0) {
  void* found = nullptr;
  EXPECT_CUDA(cuGetProcAddress(name, &found, version, flags, nullptr));
  return found;
}

void* Exported(const char* symbol) { return dlsym(RTLD_DEFAULT, symbol); }

TEST_F(EntryPointTest, TheVersionPicksTheAbi) {
  EXPECT_EQ(Exported("cuMemAlloc"), Look("cuMemAlloc", 2000));
  EXPECT_EQ(Exported("cuMemAlloc_v2"), Look("cuMemAlloc", 3020));
  EXPECT_EQ(Exported("cuMemAlloc_v2"), Look("cuMemAlloc", 13000));
  EXPECT_EQ(Exported("cuCtxCreate_v3"), Look("cuCtxCreate", 12040));
  EXPECT_EQ(Exported("cuCtxCreate_v4"), Look("cuCtxCreate", 12050));
  EXPECT_EQ(Exported("cuMemPrefetchAsync"), Look("cuMemPrefetchAsync", 12010));
  EXPECT_EQ(Exported("cuMemPrefetchAsync_v2"), Look("cuMemPrefetchAsync", 12020));
  EXPECT_EQ(Exported("cuGetProcAddress"), Look("cuGetProcAddress", 11030));
  EXPECT_EQ(Exported("cuGetProcAddress_v2"), Look("cuGetProcAddress", 12000));
  EXPECT_EQ(Exported("cuGraphAddNode"), Look("cuGraphAddNode", 12020));
  EXPECT_EQ(Exported("cuGraphAddNode_v2"), Look("cuGraphAddNode", 12030));
}

TEST_F(EntryPointTest, FlagsPickThePerThreadVariant) {
  EXPECT_EQ(Exported("cuMemcpyAsync"), Look("cuMemcpyAsync", 12000, 0));
  EXPECT_EQ(Exported("cuMemcpyAsync"), Look("cuMemcpyAsync", 12000, 1));
  EXPECT_EQ(Exported("cuMemcpyAsync_ptsz"), Look("cuMemcpyAsync", 12000, 2));
  EXPECT_EQ(Exported("cuMemcpyDtoH_v2_ptds"), Look("cuMemcpyDtoH", 12000, 2));
  EXPECT_EQ(Exported("cuMemAlloc_v2"), Look("cuMemAlloc", 12000, 2));
}

TEST_F(EntryPointTest, AbsenceHasTwoReasons) {
  void* found = this;
  CUdriverProcAddressQueryResult status = CU_GET_PROC_ADDRESS_SUCCESS;
  EXPECT_CUDA(cuGetProcAddress("cuNothing", &found, 12000, 0, &status));
  EXPECT_EQ(nullptr, found);
  EXPECT_EQ(CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND, status);
  EXPECT_CUDA(cuGetProcAddress("cuMemCreate", &found, 9000, 0, &status));
  EXPECT_EQ(nullptr, found);
  EXPECT_EQ(CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT, status);
}

TEST_F(EntryPointTest, TheEmptyNameAtVersionZeroIsHarmless) { EXPECT_EQ(nullptr, Look("", 0)); }

TEST_F(EntryPointTest, VersionsNewerThanTheDriverAreRefused) {
  void* found = nullptr;
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuGetProcAddress("cuInit", &found, 99000, 0, nullptr));
}

TEST_F(EntryPointTest, ThePerThreadVariantUsesTheThreadsOwnStream) {
  using GetId = CUresult (*)(CUstream, unsigned long long*);
  const auto per_thread = reinterpret_cast<GetId>(Look("cuStreamGetId", 12000, 2));
  unsigned long long legacy = 0;
  unsigned long long own = 0;
  unsigned long long named = 0;
  ASSERT_CUDA(cuStreamGetId(nullptr, &legacy));
  ASSERT_CUDA(per_thread(nullptr, &own));
  ASSERT_CUDA(cuStreamGetId(CU_STREAM_PER_THREAD, &named));
  EXPECT_NE(legacy, own);
  EXPECT_EQ(named, own);
}

TEST_F(EntryPointTest, PrivateTablesDoNotExist) {
  const void* table = nullptr;
  const CUuuid uuid{};
  EXPECT_EQ(CUDA_ERROR_NOT_FOUND, cuGetExportTable(&table, &uuid));
}

TEST_F(EntryPointTest, WhatNobodyWroteSaysItsNameOnceAndFails) {
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(CUDA_ERROR_NOT_SUPPORTED, cuGraphicsUnregisterResource(nullptr));
  EXPECT_EQ(CUDA_ERROR_NOT_SUPPORTED, cuGraphicsUnregisterResource(nullptr));
  EXPECT_EQ("cuheap-sim: cuGraphicsUnregisterResource is not simulated\n",
            ::testing::internal::GetCapturedStderr());
}

TEST_F(EntryPointTest, EveryErrorHasANameAndAText) {
  const char* text = nullptr;
  ASSERT_CUDA(cuGetErrorName(CUDA_ERROR_STREAM_CAPTURE_UNJOINED, &text));
  EXPECT_STREQ("CUDA_ERROR_STREAM_CAPTURE_UNJOINED", text);
  ASSERT_CUDA(cuGetErrorString(CUDA_ERROR_OUT_OF_MEMORY, &text));
  EXPECT_STREQ("out of memory", text);
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuGetErrorName(static_cast<CUresult>(998), &text));
}

}  // namespace
}  // namespace cuheap::sim
