#include "tests/sim/runtime/missing.h"

#include <cstdio>

#include "tests/sim/runtime/error.h"

namespace cuheap::sim_runtime {

void SayMissingOnce(bool* said, const char* name, const char* what) {
  if (__atomic_exchange_n(said, true, __ATOMIC_RELAXED)) return;
  std::fprintf(stderr, "cuheap-sim: %s %s\n", name, what);
}

}  // namespace cuheap::sim_runtime

int cuheap_sim_missing_runtime_function(bool* said, const char* name) {
  cuheap::sim_runtime::SayMissingOnce(said, name, "is not written in the simulated runtime");
  return cuheap::sim_runtime::Record(cudaErrorNotSupported);
}
