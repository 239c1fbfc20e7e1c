// Entry points that a driver lacks (CUHEAP_SIM_WITHOUT). The driver is not linked: each child opens
// it after its setting is made.
#include <cuda.h>
#include <dlfcn.h>

#include <cstdlib>
#include <string>

#include "tests/sim/tests/child.h"

namespace cuheap::sim {
namespace {

class WithoutTest : public ::testing::Test {
 protected:
  void TearDown() override { unsetenv("CUHEAP_SIM_WITHOUT"); }
};

void* Open() { return dlopen(CUHEAP_SIM_FOLDER "/libcuda.so.1", RTLD_NOW); }

// The code of a query, and what it found.
struct Answer {
  void* function = nullptr;
  CUdriverProcAddressQueryResult status = CU_GET_PROC_ADDRESS_SUCCESS;
};

Answer Ask(void* driver, const char* name, int version, cuuint64_t flags = 0) {
  Answer answer;
  const auto resolver =
      reinterpret_cast<decltype(::cuGetProcAddress_v2)*>(dlsym(driver, "cuGetProcAddress_v2"));
  EXPECT_EQ(CUDA_SUCCESS, resolver(name, &answer.function, version, flags, &answer.status));
  return answer;
}

TEST_F(WithoutTest, NoRoadLeadsToAnEntryPointThatIsMissing) {
  setenv("CUHEAP_SIM_WITHOUT", "cuMemCreate,cuMemUnmap", 1);
  EXPECT_EQ(0, ExitOf([] {
              void* driver = Open();
              CHILD_NEEDS(driver != nullptr);
              CHILD_NEEDS(dlsym(driver, "cuMemCreate") == nullptr);
              const std::string why = dlerror();
              CHILD_NEEDS(why.find("undefined symbol: cuMemCreate") != std::string::npos);
              CHILD_NEEDS(dlsym(driver, "cuMemUnmap") == nullptr);
              CHILD_NEEDS(dlsym(driver, "cuMemMap") != nullptr);
              const Answer answer = Ask(driver, "cuMemCreate", 12000);
              CHILD_NEEDS(answer.function == nullptr);
              CHILD_NEEDS(answer.status == CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND);
              CHILD_NEEDS(Ask(driver, "cuMemMap", 12000).function == dlsym(driver, "cuMemMap"));
              return 0;
            }));
}

TEST_F(WithoutTest, TheOlderAbiAnswersForAMissingNewerOne) {
  setenv("CUHEAP_SIM_WITHOUT", "cuMemPrefetchAsync_v2,cuMemPrefetchAsync_v2_ptsz", 1);
  EXPECT_EQ(0, ExitOf([] {
              void* driver = Open();
              void* first = dlsym(driver, "cuMemPrefetchAsync");
              void* own = dlsym(driver, "cuMemPrefetchAsync_ptsz");
              CHILD_NEEDS(first != nullptr && own != nullptr);
              CHILD_NEEDS(dlsym(driver, "cuMemPrefetchAsync_v2") == nullptr);
              CHILD_NEEDS(Ask(driver, "cuMemPrefetchAsync", 12020).function == first);
              CHILD_NEEDS(Ask(driver, "cuMemPrefetchAsync", 12020, 2).function == own);
              return 0;
            }));
}

TEST_F(WithoutTest, AMissingResolverLeavesTheOther) {
  setenv("CUHEAP_SIM_WITHOUT", "cuGetProcAddress_v2", 1);
  EXPECT_EQ(0, ExitOf([] {
              void* driver = Open();
              CHILD_NEEDS(dlsym(driver, "cuGetProcAddress_v2") == nullptr);
              using Older = CUresult (*)(const char*, void**, int, cuuint64_t);
              const auto older = reinterpret_cast<Older>(dlsym(driver, "cuGetProcAddress"));
              CHILD_NEEDS(older != nullptr);
              void* function = nullptr;
              CHILD_NEEDS(older("cuMemAlloc", &function, 3020, 0) == CUDA_SUCCESS);
              CHILD_NEEDS(function == dlsym(driver, "cuMemAlloc_v2"));
              return 0;
            }));
}

TEST_F(WithoutTest, ANameThatIsNoEntryPointIsNamedAndFailsInit) {
  for (const char* setting : {"cuMemCreat", "cuMemCreate;cuMemMap", ",cuMemCreate"}) {
    setenv("CUHEAP_SIM_WITHOUT", setting, 1);
    ::testing::internal::CaptureStderr();
    EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, ExitOf([] {
                const auto init = reinterpret_cast<CUresult (*)(unsigned)>(dlsym(Open(), "cuInit"));
                return static_cast<int>(init(0));
              }));
    EXPECT_EQ(0U,
              ::testing::internal::GetCapturedStderr().find(
                  std::string("cuheap-sim: CUHEAP_SIM_WITHOUT=") + setting + " cannot be read"));
  }
}

}  // namespace
}  // namespace cuheap::sim
