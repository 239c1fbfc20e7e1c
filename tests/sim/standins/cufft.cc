// cuFFT: plans and their work areas.
#include "tests/sim/standins/standin.h"

using namespace cuheap::sim_standin;

CUHEAP_STANDIN int cufftCreate(int* plan) {
  static int last = 0;
  *plan = __atomic_add_fetch(&last, 1, __ATOMIC_RELAXED);
  return 0;
}

// One complex number for each point is what a plan of several passes needs.
CUHEAP_STANDIN int cufftXtMakePlanMany(int, int rank, const long long* sizes, const long long*,
                                       long long, long long, int, const long long*, long long,
                                       long long, int, long long batch,
                                       std::size_t* workspace_bytes, int) {
  constexpr std::size_t kComplexBytes = 8;
  std::size_t points = static_cast<std::size_t>(batch);
  for (int i = 0; i < rank; ++i) points *= static_cast<std::size_t>(sizes[i]);
  *workspace_bytes = points * kComplexBytes;
  return 0;
}
