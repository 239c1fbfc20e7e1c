// Which device memory a call of a library touches, as exact ranges: matrices, vectors, boxes of
// elements with strides, column by column where columns do not follow each other. A range never
// goes beyond the last element that the call names.
//
// Laws: 1. Of a shape that falls into more than kMostPieces pieces, the first kMostPieces are
// named.
//          So what is named is always touched, and what is touched is not always named.
//       2. An operation is not in its own way: what it writes is named as written only, and once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tests/sim/engine/sim_api.h"

namespace cuheap::sim_standin {

enum class Access { kRead, kWrite };

// One dimension of a box: so many elements, so many elements apart.
struct Extent {
  std::int64_t count;
  std::int64_t stride;
};

// Column-major, as BLAS has it; `bits` of an element, `batch` matrices `stride` elements apart.
struct Matrix {
  const void* base;
  std::int64_t rows;
  std::int64_t columns;
  std::int64_t ld;
  int bits;
  std::int64_t batch = 1;
  std::int64_t stride = 0;
};

class Touched {
 public:
  static constexpr std::size_t kMostPieces = 256;

  // Nothing where there is no address or no element.
  void Bytes(Access access, const void* base, std::uint64_t bytes);
  void Box(Access access, const void* base, std::vector<Extent> extents, int bits);
  void Add(Access access, const Matrix& matrix);
  // A vector of BLAS, whose increment may be negative.
  void Vector(Access access, const void* base, std::int64_t count, std::int64_t increment,
              int bits);
  // The upper or the lower triangle of the first matrix, with its diagonal.
  void Triangle(Access access, const Matrix& square, bool upper);

  bool empty() const { return reads_.empty() && writes_.empty(); }
  std::vector<cuheap_sim_range> Ranges() const;

 private:
  struct Range {
    std::uint64_t begin;
    std::uint64_t end;
  };
  static std::vector<Range> Merged(std::vector<Range> ranges);

  std::vector<Range> reads_;
  std::vector<Range> writes_;
};

}  // namespace cuheap::sim_standin
