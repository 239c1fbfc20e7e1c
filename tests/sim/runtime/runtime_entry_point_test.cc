// Driver functions that the runtime hands out by name, compared with what the driver itself
// exports.
#define CUDA_ENABLE_DEPRECATED  // programs still call what is
#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <gtest/gtest.h>

extern "C" {
cudaError_t cudaGetDriverEntryPointByVersion_ptsz(const char*, void**, unsigned int,
                                                  unsigned long long,
                                                  cudaDriverEntryPointQueryResult*);
cudaError_t cudaGetDriverEntryPoint_ptsz(const char*, void**, unsigned long long,
                                         cudaDriverEntryPointQueryResult*);
}

namespace {

class EntryPointTest : public testing::Test {
 protected:
  static void* Exported(const char* symbol) {
    void* driver = dlopen("libcuda.so.1", RTLD_NOW);
    return driver == nullptr ? nullptr : dlsym(driver, symbol);
  }
  static void* ByVersion(const char* name, unsigned int version,
                         unsigned long long flags = cudaEnableDefault) {
    void* function = nullptr;
    cudaDriverEntryPointQueryResult status{};
    EXPECT_EQ(cudaGetDriverEntryPointByVersion(name, &function, version, flags, &status),
              cudaSuccess);
    EXPECT_EQ(status == cudaDriverEntryPointSuccess, function != nullptr) << name;
    return function;
  }
};

TEST_F(EntryPointTest, TheAskedVersionPicksTheAbi) {
  EXPECT_EQ(ByVersion("cuMemAlloc", 2000), Exported("cuMemAlloc"));
  EXPECT_EQ(ByVersion("cuMemAlloc", 3020), Exported("cuMemAlloc_v2"));
  EXPECT_EQ(ByVersion("cuGetProcAddress", 11030), Exported("cuGetProcAddress"));
  EXPECT_EQ(ByVersion("cuGetProcAddress", 12000), Exported("cuGetProcAddress_v2"));
  EXPECT_EQ(ByVersion("cuCtxCreate", 11040), Exported("cuCtxCreate_v3"));
  EXPECT_EQ(ByVersion("cuCtxCreate", 12050), Exported("cuCtxCreate_v4"));
  EXPECT_EQ(ByVersion("cuMemCreate", 10010), nullptr);
  EXPECT_EQ(ByVersion("cuMemCreate", 10020), Exported("cuMemCreate"));
}

TEST_F(EntryPointTest, WithoutAVersionItIsTheRuntimesOwn) {
  void* function = nullptr;
  ASSERT_EQ(cudaGetDriverEntryPoint("cuMemAlloc", &function, cudaEnableDefault, nullptr),
            cudaSuccess);
  EXPECT_EQ(function, Exported("cuMemAlloc_v2"));
  ASSERT_EQ(cudaGetDriverEntryPoint("cuCtxCreate", &function, cudaEnableDefault, nullptr),
            cudaSuccess);
  EXPECT_EQ(function, Exported("cuCtxCreate_v4"));
}

TEST_F(EntryPointTest, FlagsAndTheFacePickTheDefaultStream) {
  void* legacy = Exported("cuStreamSynchronize");
  void* own = Exported("cuStreamSynchronize_ptsz");
  EXPECT_EQ(ByVersion("cuStreamSynchronize", 12000), legacy);
  EXPECT_EQ(ByVersion("cuStreamSynchronize", 12000, cudaEnablePerThreadDefaultStream), own);
  void* function = nullptr;
  ASSERT_EQ(cudaGetDriverEntryPointByVersion_ptsz("cuStreamSynchronize", &function, 12000,
                                                  cudaEnableDefault, nullptr),
            cudaSuccess);
  EXPECT_EQ(function, own);
  ASSERT_EQ(cudaGetDriverEntryPoint_ptsz("cuStreamSynchronize", &function, cudaEnableLegacyStream,
                                         nullptr),
            cudaSuccess);
  EXPECT_EQ(function, legacy);
}

TEST_F(EntryPointTest, AbsenceIsSuccessWithANullFunctionWithAndWithoutAStatus) {
  void* function = this;
  EXPECT_EQ(cudaGetDriverEntryPointByVersion("cuNothing", &function, 12000, 0, nullptr),
            cudaSuccess);
  EXPECT_EQ(function, nullptr);
  cudaDriverEntryPointQueryResult status{};
  EXPECT_EQ(cudaGetDriverEntryPointByVersion("cuNothing", &function, 12000, 0, &status),
            cudaSuccess);
  EXPECT_EQ(status, cudaDriverEntryPointSymbolNotFound);
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
}

TEST_F(EntryPointTest, WhatTheDriverRefusesIsAnInvalidValue) {
  void* function = this;
  EXPECT_EQ(cudaGetDriverEntryPointByVersion("cuInit", &function, 99000, 0, nullptr),
            cudaErrorInvalidValue);
  EXPECT_EQ(cudaGetDriverEntryPointByVersion("cuInit", &function, 12000, 9, nullptr),
            cudaErrorInvalidValue);
  EXPECT_EQ(cudaGetDriverEntryPoint(nullptr, &function, 0, nullptr), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGetDriverEntryPoint("cuInit", nullptr, 0, nullptr), cudaErrorInvalidValue);
  EXPECT_EQ(function, this);
  cudaGetLastError();
}

}  // namespace
