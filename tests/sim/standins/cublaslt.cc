// cuBLASLt: descriptors that are remembered, heuristics, and the product.
#include <algorithm>

#include "tests/sim/standins/enqueue.h"
#include "tests/sim/standins/standin.h"
#include "tests/sim/standins/types.h"

using namespace cuheap::sim_standin;

namespace {

constexpr std::size_t kVersion = 130200;
constexpr int kInvalidValue = 7;
constexpr int kExecutionFailed = 13;

struct Algorithm {
  std::uint64_t data[8];
};

// No work space: among the algorithms of a product there is always one without.
struct HeuristicResult {
  Algorithm algorithm;
  std::size_t workspace_bytes;
  int state;
  float waves;
  int reserved[4];
};
static_assert(sizeof(HeuristicResult) == 96, "layout of cublasLtMatmulHeuristicResult_t");

// cublasLtMatrixLayoutAttribute_t.
enum LayoutAttribute {
  kType = 0,
  kOrder = 1,
  kRows = 2,
  kColumns = 3,
  kLeading = 4,
  kBatch = 5,
  kBatchStride = 6,
};
constexpr std::int32_t kColumnMajor = 0;
constexpr std::int32_t kRowMajor = 1;

// A matrix as it is stored, whatever the product does with it.
struct Layout {
  std::int32_t type;
  std::int32_t order = kColumnMajor;
  std::int64_t rows;
  std::int64_t columns;
  std::int64_t ld;
  std::int32_t batch = 1;
  std::int64_t stride = 0;
};

// cublasLtMatmulDescAttributes_t, as far as it names memory.
enum ProductAttribute { kEpilogue = 7, kBiasPointer = 8, kBiasType = 26 };

// Bits of cublasLtEpilogue_t.
constexpr std::uint32_t kAddsBias = 4;
constexpr std::uint32_t kGivesGradientOfRows = 16 | 256;
constexpr std::uint32_t kGivesGradientOfColumns = 512;

constexpr std::int32_t kTypeOfResult = -1;

struct Product {
  std::uint32_t epilogue = 0;
  const void* bias = nullptr;
  std::int32_t bias_type = kTypeOfResult;
};

template <typename T>
int Read(const void* buffer, std::size_t bytes, T* field) {
  if (buffer == nullptr || bytes < sizeof *field) return kInvalidValue;
  std::memcpy(field, buffer, sizeof *field);
  return 0;
}

// Tiled orders are not named: their elements lie where the library likes.
void Name(Access access, const void* base, const Layout& layout, Touched* touched) {
  const bool by_rows = layout.order == kRowMajor;
  if (layout.order != kColumnMajor && !by_rows) return;
  touched->Add(
      access, {base, by_rows ? layout.columns : layout.rows, by_rows ? layout.rows : layout.columns,
               layout.ld, BitsOfType(layout.type), layout.batch, layout.stride});
}

// The bias that is added, or its gradient: a vector as long as a column of D, or as a row.
void NameBias(const Product& product, const Layout& result, Touched* touched) {
  const bool gives = (product.epilogue & (kGivesGradientOfRows | kGivesGradientOfColumns)) != 0;
  if (!gives && (product.epilogue & kAddsBias) == 0) return;
  const bool of_columns = (product.epilogue & kGivesGradientOfColumns) != 0;
  const int type = product.bias_type == kTypeOfResult ? result.type : product.bias_type;
  touched->Vector(gives ? Access::kWrite : Access::kRead, product.bias,
                  of_columns ? result.columns : result.rows, 1, BitsOfType(type));
}

const Layout& As(Handle layout) { return *static_cast<const Layout*>(layout); }

}  // namespace

CUHEAP_STANDIN std::size_t cublasLtGetVersion() { return kVersion; }

CUHEAP_STANDIN int cublasLtMatmulDescCreate(Handle* description, int, int) {
  return Create<Product>(description);
}
CUHEAP_STANDIN int cublasLtMatmulDescDestroy(Handle description) {
  return Destroy<Product>(description);
}
CUHEAP_STANDIN int cublasLtMatmulDescSetAttribute(Handle description, int attribute,
                                                  const void* value, std::size_t bytes) {
  Product& product = *static_cast<Product*>(description);
  switch (attribute) {
    case kEpilogue:
      return Read(value, bytes, &product.epilogue);
    case kBiasPointer:
      return Read(value, bytes, &product.bias);
    case kBiasType:
      return Read(value, bytes, &product.bias_type);
    default:
      return 0;
  }
}

CUHEAP_STANDIN int cublasLtMatrixLayoutCreate(Handle* layout, int type, std::uint64_t rows,
                                              std::uint64_t columns, std::int64_t ld) {
  *layout = new Layout{.type = type,
                       .rows = static_cast<std::int64_t>(rows),
                       .columns = static_cast<std::int64_t>(columns),
                       .ld = ld};
  return 0;
}
CUHEAP_STANDIN int cublasLtMatrixLayoutDestroy(Handle layout) { return Destroy<Layout>(layout); }
CUHEAP_STANDIN int cublasLtMatrixLayoutSetAttribute(Handle handle, int attribute, const void* value,
                                                    std::size_t bytes) {
  Layout& layout = *static_cast<Layout*>(handle);
  switch (attribute) {
    case kType:
      return Read(value, bytes, &layout.type);
    case kOrder:
      return Read(value, bytes, &layout.order);
    case kRows:
      return Read(value, bytes, &layout.rows);
    case kColumns:
      return Read(value, bytes, &layout.columns);
    case kLeading:
      return Read(value, bytes, &layout.ld);
    case kBatch:
      return Read(value, bytes, &layout.batch);
    case kBatchStride:
      return Read(value, bytes, &layout.stride);
    default:
      return 0;
  }
}

CUHEAP_STANDIN int cublasLtMatmulPreferenceCreate(Handle* preference) { return Create(preference); }
CUHEAP_STANDIN int cublasLtMatmulPreferenceDestroy(Handle preference) {
  return Destroy(preference);
}

CUHEAP_STANDIN int cublasLtMatmulAlgoGetHeuristic(Handle, Handle, Handle, Handle, Handle, Handle,
                                                  Handle, int requested, HeuristicResult* results,
                                                  int* returned) {
  if (requested <= 0 || results == nullptr || returned == nullptr) return kInvalidValue;
  *returned = 1;
  results[0] = HeuristicResult{};
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

CUHEAP_STANDIN int cublasLtMatmul(Handle, Handle description, const void*, const void* a,
                                  Handle layout_a, const void* b, Handle layout_b, const void*,
                                  const void* c, Handle layout_c, void* d, Handle layout_d,
                                  const Algorithm*, void*, std::size_t, Stream stream) {
  const Layout& result = As(layout_d);
  Touched touched;
  Name(Access::kRead, a, As(layout_a), &touched);
  Name(Access::kRead, b, As(layout_b), &touched);
  if (c != d && c != nullptr) Name(Access::kRead, c, As(layout_c), &touched);
  Name(Access::kWrite, d, result, &touched);
  NameBias(*static_cast<const Product*>(description), result, &touched);
  return Enqueue(stream, "cublasLtMatmul", touched) == 0 ? 0 : kExecutionFailed;
}
