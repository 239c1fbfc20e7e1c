// The driver's end before the process's end, and the child of an initialised process: in both no
// call of any function does anything. Each test runs in a child, the parent never initialises.
#include <dlfcn.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

#include "tests/sim/engine/sim_api.h"
#include "tests/sim/tests/child.h"
#include "tests/sim/tests/machine.h"

namespace cuheap::sim {
namespace {

constexpr const char* kSymbols[] = {
#define ENTRY(name, version, per_thread, symbol) #symbol,
#include "entry_table.inc"
#undef ENTRY
};

// The gate refuses before an argument is looked at, so that anything may be passed.
CUresult CallWithZeros(const char* symbol) {
  void* function = dlsym(RTLD_DEFAULT, symbol);
  if (function == nullptr) return CUDA_ERROR_NOT_FOUND;
  using Any = CUresult (*)(long, long, long, long, long, long, long, long, long, long, long, long,
                           long, long, long, long);
  return reinterpret_cast<Any>(function)(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
}

bool WorksAlways(const std::string& symbol) {
  return symbol == "cuInit" || symbol == "cuDriverGetVersion" || symbol.starts_with("cuGetError") ||
         symbol.starts_with("cuGetProcAddress") || symbol == "cuGetExportTable";
}

CUdeviceptr block = 0;  // of the child that runs

int Open() {
  CUcontext context = nullptr;
  CHILD_NEEDS(cuInit(0) == CUDA_SUCCESS);
  CHILD_NEEDS(cuDevicePrimaryCtxRetain(&context, 0) == CUDA_SUCCESS);
  CHILD_NEEDS(cuCtxSetCurrent(context) == CUDA_SUCCESS);
  CHILD_NEEDS(cuMemAlloc(&block, 4096) == CUDA_SUCCESS);
  return 0;
}

// What a late destructor finds.
int Free() { return cuMemFree(block); }

class ShutdownTest : public testing::Test {
 protected:
  void SetUp() override { setenv("CUHEAP_SIM_MEMORY", "1G", 1); }
  void TearDown() override {
    unsetenv("CUHEAP_SIM_SHUTDOWN");
    unsetenv("CUHEAP_SIM_LOG");
  }
};

TEST_F(ShutdownTest, EveryEntryPointSaysDeinitializedAfterwards) {
  EXPECT_EQ(0, ExitOf([] {
              CHILD_NEEDS(Open() == 0);
              cuheap_sim_shut_down();
              for (const char* symbol : kSymbols) {
                const CUresult result = CallWithZeros(symbol);
                if (result != CUDA_ERROR_DEINITIALIZED) std::fprintf(stderr, "%s\n", symbol);
                CHILD_NEEDS(result == CUDA_ERROR_DEINITIALIZED);
              }
              return 0;
            }));
}

TEST_F(ShutdownTest, OutputsStayUntouchedAndTheAccountsCanStillBeRead) {
  EXPECT_EQ(0, ExitOf([] {
              CHILD_NEEDS(Open() == 0);
              cuheap_sim_shut_down();
              CUdeviceptr address = 77;
              CHILD_NEEDS(cuMemAlloc(&address, 64) == CUDA_ERROR_DEINITIALIZED && address == 77);
              int version = 5;
              CHILD_NEEDS(cuDriverGetVersion(&version) == CUDA_ERROR_DEINITIALIZED && version == 5);
              CHILD_NEEDS(cuheap_sim_live_bytes(0, CUHEAP_SIM_LINEAR) == 4096);
              return 0;
            }));
}

TEST_F(ShutdownTest, RefusedCallsAreLogged) {
  const std::string path = testing::TempDir() + "cuheap_shutdown_log_" + std::to_string(getpid());
  setenv("CUHEAP_SIM_LOG", path.c_str(), 1);
  EXPECT_EQ(0, ExitOf([] {
              CHILD_NEEDS(Open() == 0);
              cuheap_sim_shut_down();
              CHILD_NEEDS(cuCtxSynchronize() == CUDA_ERROR_DEINITIALIZED);
              return 0;
            }));
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  EXPECT_NE(std::string::npos, text.str().find(" cuCtxSynchronize() = 4 "));
  std::remove(path.c_str());
}

// The three handlers of a program around cuInit; what each of them finds goes into the exit code.
int seen_by_first = -1;
int seen_by_last = -1;

int ExitAroundInit() {
  std::atexit([] { _exit(seen_by_last * 16 + seen_by_first); });
  std::atexit([] { seen_by_first = Free(); });
  CHILD_NEEDS(Open() == 0);
  std::atexit([] { seen_by_last = Free(); });
  std::exit(255);
}

TEST_F(ShutdownTest, ByDefaultNothingShutsDown) {
  // The block is freed by the handler that runs first; the other one finds it gone.
  EXPECT_EQ(CUDA_SUCCESS * 16 + CUDA_ERROR_INVALID_VALUE, ExitOf(ExitAroundInit));
}

TEST_F(ShutdownTest, LateMeansBeforeTheHandlersThatWereRegisteredBeforeInit) {
  setenv("CUHEAP_SIM_SHUTDOWN", "at-exit-late", 1);
  EXPECT_EQ(CUDA_SUCCESS * 16 + CUDA_ERROR_DEINITIALIZED, ExitOf(ExitAroundInit));
}

TEST_F(ShutdownTest, EarlyMeansAfterTheHandlersOfAProgramThatLinksTheDriver) {
  setenv("CUHEAP_SIM_SHUTDOWN", "at-exit-early", 1);
  EXPECT_EQ(CUDA_SUCCESS * 16 + CUDA_ERROR_INVALID_VALUE, ExitOf(ExitAroundInit));
}

// A static object of a function is destroyed where an exit handler would run.
struct LateObject {
  explicit LateObject(int* where) : where_(where) {}
  ~LateObject() { *where_ = Free(); }
  int* where_;
};

TEST_F(ShutdownTest, StaticDestructorsStandInTheSameOrder) {
  setenv("CUHEAP_SIM_SHUTDOWN", "at-exit-late", 1);
  EXPECT_EQ(CUDA_SUCCESS * 16 + CUDA_ERROR_DEINITIALIZED, ExitOf([] {
              std::atexit([] { _exit(seen_by_last * 16 + seen_by_first); });
              static const LateObject before(&seen_by_first);
              CHILD_NEEDS(Open() == 0);
              static const LateObject after(&seen_by_last);
              std::exit(255);
              return 0;
            }));
}

TEST_F(ShutdownTest, AnUnreadableSettingIsNamed) {
  setenv("CUHEAP_SIM_SHUTDOWN", "soon", 1);
  testing::internal::CaptureStderr();
  EXPECT_EQ(0, ExitOf([] { return cuInit(0) == CUDA_ERROR_INVALID_VALUE ? 0 : 1; }));
  EXPECT_NE(std::string::npos,
            testing::internal::GetCapturedStderr().find("CUHEAP_SIM_SHUTDOWN=soon"));
}

TEST_F(ShutdownTest, InAForkedChildEveryEntryPointSaysNotInitialized) {
  EXPECT_EQ(0, ExitOf([] {
              CHILD_NEEDS(Open() == 0);
              return ExitOf([] {
                CHILD_NEEDS(cuInit(0) == CUDA_ERROR_NOT_INITIALIZED);
                for (const char* symbol : kSymbols) {
                  if (WorksAlways(symbol)) continue;
                  const CUresult result = CallWithZeros(symbol);
                  if (result != CUDA_ERROR_NOT_INITIALIZED) std::fprintf(stderr, "%s\n", symbol);
                  CHILD_NEEDS(result == CUDA_ERROR_NOT_INITIALIZED);
                }
                return 0;
              });
            }));
}

}  // namespace
}  // namespace cuheap::sim
