// Lists of operations where an entry of a second list holds from its index on: copies with
// attributes, prefetches with locations.
#pragma once

#include <cuda.h>

#include <cstddef>
#include <vector>

namespace cuheap::sim {

// The entry that holds for each of `count` operations. INVALID_VALUE: the indices do not begin with
// 0, do not rise, or leave the list.
inline CUresult EntryOfEach(const std::size_t* indices, std::size_t entries, std::size_t count,
                            std::vector<std::size_t>* out) {
  if (entries == 0 || entries > count || indices[0] != 0) return CUDA_ERROR_INVALID_VALUE;
  for (std::size_t i = 1; i < entries; ++i) {
    if (indices[i] <= indices[i - 1] || indices[i] >= count) return CUDA_ERROR_INVALID_VALUE;
  }
  std::vector<std::size_t> list(count);
  for (std::size_t i = 0, entry = 0; i < count; ++i) {
    if (entry + 1 < entries && indices[entry + 1] == i) ++entry;
    list[i] = entry;
  }
  *out = std::move(list);
  return CUDA_SUCCESS;
}

}  // namespace cuheap::sim
