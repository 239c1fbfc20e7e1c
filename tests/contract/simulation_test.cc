// What the simulated device promises on top of a GPU: faults, the log, races.
#include <string>

#include "tests/contract/contract.h"

namespace cuheap::contract {

template <class Face>
class SimulationPromises : public Contract<Face> {
 protected:
  void SetUp() override {
    CUHEAP_CONTRACT_NEEDS(Simulation() != nullptr, "the simulated device");
    Contract<Face>::SetUp();
  }
};
TYPED_TEST_SUITE(SimulationPromises, Faces, NameOfFace);

TYPED_TEST(SimulationPromises, TheNthCallFailsAndWritesNothing) {
  ASSERT_EQ(0, Simulation()->fail("cuMemAlloc", 2, CUDA_ERROR_OUT_OF_MEMORY));
  void* const first = this->Malloc(512);
  void* second = kPreset;
  EXPECT_CODE(CUDA_ERROR_OUT_OF_MEMORY, TypeParam::Malloc(&second, 512));
  EXPECT_EQ(kPreset, second);
  EXPECT_EQ(1U, Simulation()->faults_fired());
  Simulation()->clear_faults();
  EXPECT_OK(TypeParam::Free(first));
}

TYPED_TEST(SimulationPromises, TheLogHasEveryCallOfTheDriver) {
  Simulation()->log_clear();
  Simulation()->log_start();
  void* const memory = this->Malloc(512);
  EXPECT_OK(TypeParam::Free(memory));
  Simulation()->log_stop();
  std::string calls;
  for (std::size_t i = 0; i < Simulation()->log_size(); ++i) {
    cuheap_sim_call call{};
    ASSERT_EQ(0, Simulation()->log_read(i, &call));
    calls += std::string(call.symbol) + " ";
  }
  EXPECT_LT(calls.find("cuMemAlloc_v2"), calls.find("cuMemFree_v2")) << calls;
  EXPECT_NE(std::string::npos, calls.find("cuMemFree_v2")) << calls;
  Simulation()->log_clear();
}

TYPED_TEST(SimulationPromises, AReadThatNothingOrdersAfterTheWriteIsARace) {
  CUHEAP_CONTRACT_NEEDS(TheClock() != Clock::kEager || std::getenv("CUHEAP_SIM_RACES") != nullptr,
                        "the search for races");
  Simulation()->forget_races();
  void* const memory = this->Malloc(512);
  CUstream const writer = this->NewStream();
  CUstream const reader = this->NewStream();
  EXPECT_OK(TypeParam::MemsetAsync(memory, 1, 512, writer));
  this->Bytes(memory, 512, reader);
  EXPECT_EQ(1U, Simulation()->races());
  Simulation()->forget_races();
  EXPECT_OK(TypeParam::Synchronize());
  EXPECT_OK(TypeParam::StreamDestroy(writer));
  EXPECT_OK(TypeParam::StreamDestroy(reader));
  EXPECT_OK(TypeParam::Free(memory));
}

}  // namespace cuheap::contract
