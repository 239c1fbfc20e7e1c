// cuBLASLt: descriptors and heuristics.
#include "tests/sim/standins/standin.h"

using namespace cuheap::sim_standin;

namespace {

struct Algorithm {
  std::uint64_t data[8];
};

struct HeuristicResult {
  Algorithm algorithm;
  std::size_t workspace_bytes;
  int state;
  float waves;
  int reserved[4];
};
static_assert(sizeof(HeuristicResult) == 96, "layout of cublasLtMatmulHeuristicResult_t");

constexpr std::size_t kVersion = 130200;

}  // namespace

CUHEAP_STANDIN std::size_t cublasLtGetVersion() { return kVersion; }

CUHEAP_STANDIN int cublasLtMatmulDescCreate(Handle* description, int, int) {
  return Create(description);
}
CUHEAP_STANDIN int cublasLtMatmulDescDestroy(Handle description) { return Destroy(description); }
CUHEAP_STANDIN int cublasLtMatrixLayoutCreate(Handle* layout, int, std::uint64_t, std::uint64_t,
                                              std::int64_t) {
  return Create(layout);
}
CUHEAP_STANDIN int cublasLtMatrixLayoutDestroy(Handle layout) { return Destroy(layout); }
CUHEAP_STANDIN int cublasLtMatmulPreferenceCreate(Handle* preference) { return Create(preference); }
CUHEAP_STANDIN int cublasLtMatmulPreferenceDestroy(Handle preference) {
  return Destroy(preference);
}

CUHEAP_STANDIN int cublasLtMatmulAlgoGetHeuristic(Handle, Handle, Handle, Handle, Handle, Handle,
                                                  Handle, int requested, HeuristicResult* results,
                                                  int* returned) {
  *returned = requested > 0 ? 1 : 0;
  if (requested > 0) results[0] = HeuristicResult{};
  return 0;
}

CUHEAP_STANDIN int cublasLtMatmulAlgoInit(Handle, int, int, int, int, int, int, int,
                                          Algorithm* algorithm) {
  *algorithm = Algorithm{};
  return 0;
}

CUHEAP_STANDIN int cublasLtMatmulAlgoCheck(Handle, Handle, Handle, Handle, Handle, Handle,
                                           const Algorithm* algorithm, HeuristicResult* result) {
  *result = HeuristicResult{};
  result->algorithm = *algorithm;
  return 0;
}

CUHEAP_STANDIN int cublasLtMatmulAlgoConfigGetAttribute(const Algorithm*, int, void* value,
                                                        std::size_t bytes, std::size_t* written) {
  std::memset(value, 0, bytes);
  if (written != nullptr) *written = bytes;
  return 0;
}
