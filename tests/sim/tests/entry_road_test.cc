// All roads to an entry point end at the same function: linking, dlsym in each of its versions, and
// the driver's resolver in both of its ABIs.
#include <dlfcn.h>

#include "tests/sim/testing/call_log.h"
#include "tests/sim/tests/machine.h"

namespace cuheap::sim {
namespace {

// glibc has a dlsym of the oldest version of the architecture and, since 2.34, a second one.
#if defined(__x86_64__)
constexpr const char* kDlsymVersions[] = {"GLIBC_2.2.5", "GLIBC_2.34"};
#else
constexpr const char* kDlsymVersions[] = {"GLIBC_2.17", "GLIBC_2.34"};
#endif

using Allocate = decltype(::cuMemAlloc_v2)*;

class EntryRoadTest : public Machine {
 protected:
  void SetUp() override {
    Machine::SetUp();
    library_ = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
    ASSERT_NE(nullptr, library_);
  }

  // The function is the one that linking gives, and works.
  static void ExpectAllocates(void* function, const char* road) {
    EXPECT_EQ(reinterpret_cast<void*>(&cuMemAlloc_v2), function) << road;
    if (function == nullptr) return;
    const CallLog log;
    CUdeviceptr block = 0;
    EXPECT_CUDA(reinterpret_cast<Allocate>(function)(&block, 4096)) << road;
    EXPECT_EQ(1U, log.Count("cuMemAlloc_v2")) << road;
    EXPECT_CUDA(cuMemFree(block));
  }

  void* library_ = nullptr;
};

TEST_F(EntryRoadTest, DlsymOfEachGlibcVersionFindsTheExport) {
  for (const char* version : kDlsymVersions) {
    using Dlsym = void* (*)(void*, const char*);
    const auto look = reinterpret_cast<Dlsym>(dlvsym(RTLD_DEFAULT, "dlsym", version));
    if (look == nullptr) GTEST_SKIP() << "this glibc has no dlsym of " << version;
    ExpectAllocates(look(library_, "cuMemAlloc_v2"), version);
    ExpectAllocates(look(RTLD_DEFAULT, "cuMemAlloc_v2"), version);
    EXPECT_EQ(nullptr, look(library_, "cuMemAlloc_v3"));
  }
}

TEST_F(EntryRoadTest, TheExportsHaveNoVersionThatDlvsymCouldAskFor) {
  EXPECT_EQ(nullptr, dlvsym(library_, "cuMemAlloc_v2", "libcuda.so.1"));
}

TEST_F(EntryRoadTest, TheResolverAnswersInBothOfItsAbis) {
  const auto newer =
      reinterpret_cast<decltype(::cuGetProcAddress_v2)*>(dlsym(library_, "cuGetProcAddress_v2"));
  using Older = CUresult (*)(const char*, void**, int, cuuint64_t);
  const auto older = reinterpret_cast<Older>(dlsym(library_, "cuGetProcAddress"));
  void* function = nullptr;
  CUdriverProcAddressQueryResult status = CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
  for (const cuuint64_t flags : {0, 1, 2}) {
    ASSERT_CUDA(newer("cuMemAlloc", &function, 3020, flags, &status));
    EXPECT_EQ(CU_GET_PROC_ADDRESS_SUCCESS, status);
    ExpectAllocates(function, "newer resolver");
    ASSERT_CUDA(older("cuMemAlloc", &function, 13000, flags));
    ExpectAllocates(function, "older resolver");
  }
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, newer("cuMemAlloc", &function, 3020, 3, &status));
}

TEST_F(EntryRoadTest, AResolverAskedForItselfContinuesTheRoad) {
  using Older = CUresult (*)(const char*, void**, int, cuuint64_t);
  void* newer = nullptr;
  void* older = nullptr;
  ASSERT_CUDA(cuGetProcAddress("cuGetProcAddress", &newer, 12000, 0, nullptr));
  ASSERT_CUDA(cuGetProcAddress("cuGetProcAddress", &older, 11030, 0, nullptr));
  void* function = nullptr;
  ASSERT_CUDA(reinterpret_cast<decltype(::cuGetProcAddress_v2)*>(newer)("cuMemAlloc", &function,
                                                                        3020, 0, nullptr));
  ExpectAllocates(function, "newer resolver by itself");
  ASSERT_CUDA(reinterpret_cast<Older>(older)("cuMemAlloc", &function, 3020, 0));
  ExpectAllocates(function, "older resolver by itself");
}

}  // namespace
}  // namespace cuheap::sim

// A program's own function of a driver's name is not what the driver answers about itself.
extern "C" CUresult cuCtxResetPersistingL2Cache() { return CUDA_ERROR_UNKNOWN; }

namespace cuheap::sim {
namespace {

TEST_F(EntryRoadTest, TheResolverAnswersWithItsOwnFunctionsOnly) {
  void* function = nullptr;
  ASSERT_CUDA(cuGetProcAddress("cuCtxResetPersistingL2Cache", &function, 13000, 0, nullptr));
  EXPECT_NE(reinterpret_cast<void*>(&cuCtxResetPersistingL2Cache), function);
  EXPECT_EQ(dlsym(library_, "cuCtxResetPersistingL2Cache"), function);
}

}  // namespace
}  // namespace cuheap::sim
