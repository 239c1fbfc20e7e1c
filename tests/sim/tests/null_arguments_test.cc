// Every function of memory, streams, events, graphs and contexts, called with nothing: it does not
// crash, it refuses unless its documentation gives nothing a meaning, and it changes nothing.
#include <array>
#include <set>

#include "tests/sim/tests/every_entry.h"
#include "tests/sim/tests/machine.h"

namespace cuheap::sim {
namespace {

// Functions whose arguments are optional or have a meaning when they are 0: the default stream, the
// current context, device 0, a null pointer to free, nothing to set or to copy. Named without
// versions and stream suffixes.
const std::set<std::string>& MayBeCalledWithZeroes() {
  static const auto& names = *new std::set<std::string>{"cuCtxGetStreamPriorityRange",
                                                        "cuCtxResetPersistingL2Cache",
                                                        "cuCtxSetCacheConfig",
                                                        "cuCtxSetFlags",
                                                        "cuCtxSetLimit",
                                                        "cuCtxSetSharedMemConfig",
                                                        "cuCtxSynchronize",
                                                        "cuDevicePrimaryCtxGetState",
                                                        "cuDevicePrimaryCtxSetFlags",
                                                        "cuDeviceGraphMemTrim",
                                                        "cuMemGetInfo",
                                                        "cuStreamCopyAttributes",
                                                        "cuStreamQuery",
                                                        "cuStreamSynchronize",
                                                        "cuMemFree",
                                                        "cuMemFreeAsync",
                                                        "cuMemFreeHost",
                                                        "cuMemcpy",
                                                        "cuMemcpyAsync",
                                                        "cuMemcpyDtoD",
                                                        "cuMemcpyDtoDAsync",
                                                        "cuMemcpyDtoH",
                                                        "cuMemcpyDtoHAsync",
                                                        "cuMemcpyHtoD",
                                                        "cuMemcpyHtoDAsync",
                                                        "cuMemcpyPeer",
                                                        "cuMemcpyPeerAsync",
                                                        "cuMemsetD8",
                                                        "cuMemsetD8Async",
                                                        "cuMemsetD16",
                                                        "cuMemsetD16Async",
                                                        "cuMemsetD32",
                                                        "cuMemsetD32Async",
                                                        "cuMemsetD2D8",
                                                        "cuMemsetD2D8Async",
                                                        "cuMemsetD2D16",
                                                        "cuMemsetD2D16Async",
                                                        "cuMemsetD2D32",
                                                        "cuMemsetD2D32Async"};
  return names;
}

// They end what other calls need, or begin a capture that hinders them.
const std::set<std::string>& NeverCalled() {
  static const auto& names = *new std::set<std::string>{"cuDevicePrimaryCtxReset",
                                                        "cuDevicePrimaryCtxReset_v2",
                                                        "cuDevicePrimaryCtxRelease",
                                                        "cuDevicePrimaryCtxRelease_v2",
                                                        "cuCtxPopCurrent",
                                                        "cuCtxPopCurrent_v2",
                                                        "cuCtxSetCurrent",
                                                        "cuCtxDetach",
                                                        "cuStreamBeginCapture_ptsz",
                                                        "cuStreamBeginCapture_v2_ptsz",
                                                        "cuStreamBeginCapture",
                                                        "cuStreamBeginCapture_v2",
                                                        "cuStreamBeginCaptureToGraph_ptsz",
                                                        "cuStreamBeginCaptureToGraph"};
  return names;
}

bool IsTested(const std::string& symbol) {
  if (NeverCalled().count(symbol) != 0) return false;
  for (const char* family : {"cuMem", "cuPointer", "cuStream", "cuEvent", "cuGraph", "cuCtx",
                             "cuDevicePrimaryCtx", "cuUserObject", "cuIpc", "cuArray", "cuMip",
                             "cuDeviceGet", "cuDeviceSet", "cuMulticast", "cuModule", "cuLaunch"}) {
    if (symbol.rfind(family, 0) == 0) return true;
  }
  return false;
}

class NullArgumentsTest : public Machine {
 protected:
  using Figures = std::array<std::uint64_t, 6 * CUHEAP_SIM_KINDS + 2>;

  static Figures Take() {
    Figures figures{};
    std::size_t at = 0;
    for (int device = 0; device < 2; ++device) {
      for (int kind = 0; kind < CUHEAP_SIM_KINDS; ++kind) {
        figures[at++] = cuheap_sim_used(device, kind);
        figures[at++] = cuheap_sim_live_bytes(device, kind);
        figures[at++] = cuheap_sim_live_blocks(device, kind);
      }
    }
    figures[at++] = cuheap_sim_pinned();
    CUcontext current = nullptr;
    EXPECT_CUDA(cuCtxGetCurrent(&current));
    figures[at++] = reinterpret_cast<std::uintptr_t>(current);
    return figures;
  }
  void DestroyNewContexts() {
    CUcontext current = nullptr;
    while (cuCtxGetCurrent(&current) == CUDA_SUCCESS && current != context_) {
      ASSERT_CUDA(cuCtxDestroy(current));
    }
  }
  void TearDown() override {
    EXPECT_CUDA(cuCtxSynchronize());
    Machine::TearDown();
  }
};

TEST_F(NullArgumentsTest, ZeroesAreRefusedWhereNothingGivesThemAMeaning) {
  std::size_t called = 0;
  for (const EveryEntry& entry : EveryEntries()) {
    if (!IsTested(entry.symbol)) continue;
    ++called;
    const Figures before = Take();
    const CUresult result = entry.call_with_zeroes();
    EXPECT_EQ(before, Take()) << entry.symbol;
    const std::string name = entry.symbol.substr(0, entry.symbol.find('_'));
    const bool allowed = MayBeCalledWithZeroes().count(name) != 0;
    EXPECT_TRUE(result != CUDA_SUCCESS || allowed) << entry.symbol;
  }
  EXPECT_GT(called, 300U);
}

TEST_F(NullArgumentsTest, OneNullAmongPointersChangesNothingThatIsRefused) {
  for (const EveryEntry& entry : EveryEntries()) {
    if (!IsTested(entry.symbol)) continue;
    for (std::size_t null = 0; null < entry.pointers; ++null) {
      const Figures before = Take();
      const CUresult result = entry.call_with_one_null(null);
      if (result != CUDA_SUCCESS) {
        EXPECT_EQ(before, Take()) << entry.symbol << ", pointer " << null;
      }
      DestroyNewContexts();
    }
  }
}

}  // namespace
}  // namespace cuheap::sim
