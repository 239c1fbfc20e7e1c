// The setting that says which devices reach each other. Each test runs in a child, the parent never
// initialises.
#include <cstdlib>

#include "tests/sim/tests/child.h"
#include "tests/sim/tests/machine.h"

namespace cuheap::sim {
namespace {

class PeerLinksTest : public testing::Test {
 protected:
  void SetUp() override {
    setenv("CUHEAP_SIM_MEMORY", "1G", 1);
    setenv("CUHEAP_SIM_DEVICES", "4", 1);
  }
  void TearDown() override {
    for (const char* name : {"CUHEAP_SIM_DEVICES", "CUHEAP_SIM_PEERS"}) unsetenv(name);
  }

  static bool Reaches(int device, int peer) {
    int can = -1;
    EXPECT_CUDA(cuDeviceCanAccessPeer(&can, device, peer));
    int supported = -1;
    if (device == peer) return can == 1;
    EXPECT_CUDA(cuDeviceGetP2PAttribute(&supported, CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED,
                                        device, peer));
    EXPECT_EQ(can, supported);
    return can == 1;
  }
};

TEST_F(PeerLinksTest, ByDefaultEveryDeviceReachesEveryOtherAndNoneItself) {
  EXPECT_EQ(0, ExitOf([] {
              CHILD_NEEDS(cuInit(0) == CUDA_SUCCESS);
              CHILD_NEEDS(Reaches(0, 1) && Reaches(3, 0) && !Reaches(2, 2));
              return 0;
            }));
}

TEST_F(PeerLinksTest, PairsGoBothWaysAndNoFurther) {
  setenv("CUHEAP_SIM_PEERS", "0-1,2-3", 1);
  EXPECT_EQ(0, ExitOf([] {
              CHILD_NEEDS(cuInit(0) == CUDA_SUCCESS);
              CHILD_NEEDS(Reaches(0, 1) && Reaches(1, 0) && Reaches(3, 2));
              CHILD_NEEDS(!Reaches(1, 2) && !Reaches(0, 3));
              return 0;
            }));
}

TEST_F(PeerLinksTest, WithoutALinkNothingGivesAccess) {
  setenv("CUHEAP_SIM_PEERS", "none", 1);
  EXPECT_EQ(0, ExitOf([] {
              CUcontext first = nullptr;
              CUcontext second = nullptr;
              CHILD_NEEDS(cuInit(0) == CUDA_SUCCESS && !Reaches(0, 1));
              CHILD_NEEDS(cuDevicePrimaryCtxRetain(&first, 0) == CUDA_SUCCESS);
              CHILD_NEEDS(cuDevicePrimaryCtxRetain(&second, 1) == CUDA_SUCCESS);
              CHILD_NEEDS(cuCtxSetCurrent(first) == CUDA_SUCCESS);
              CHILD_NEEDS(cuCtxEnablePeerAccess(second, 0) == CUDA_ERROR_PEER_ACCESS_UNSUPPORTED);
              CUmemoryPool pool = nullptr;
              CHILD_NEEDS(cuDeviceGetDefaultMemPool(&pool, 1) == CUDA_SUCCESS);
              CUmemAccessDesc access{{CU_MEM_LOCATION_TYPE_DEVICE, 0},
                                     CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
              CHILD_NEEDS(cuMemPoolSetAccess(pool, &access, 1) == CUDA_ERROR_INVALID_VALUE);
              return 0;
            }));
}

TEST_F(PeerLinksTest, UnreadablePairsAreNamed) {
  for (const char* text : {"0-", "0-0", "0-16", "1", "0-1,", "0-1;2-3", "most"}) {
    setenv("CUHEAP_SIM_PEERS", text, 1);
    testing::internal::CaptureStderr();
    EXPECT_EQ(0, ExitOf([] { return cuInit(0) == CUDA_ERROR_INVALID_VALUE ? 0 : 1; })) << text;
    EXPECT_NE(std::string::npos, testing::internal::GetCapturedStderr().find("CUHEAP_SIM_PEERS="))
        << text;
  }
}

}  // namespace
}  // namespace cuheap::sim
