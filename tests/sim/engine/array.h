// Arrays and mipmapped arrays. Their bytes are device memory like any other: at addresses that the
// API never tells, so that copies, the queues and the search for races need nothing of their own.
// A sparse array and one with deferred mapping are a range of addresses only, until
// cuMemMapArrayAsync gives memory to it (array_mapping.h).
//
// Laws: 1. Levels belong to their mipmapped array and planes to their array; they have handles of
//          their own and end with the whole.
//       2. Memory is charged while the whole lives, in the manner of cuMemAlloc.
// Threads: every function takes the engine's lock.
#pragma once

#include <cuda.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "tests/sim/engine/array_format.h"
#include "tests/sim/engine/sparse_layout.h"

namespace cuheap::sim {

struct Context;
struct Mipmap;

// A range of memory behind one allocation of the table, which it owns.
struct ArrayStorage {
  Context* context = nullptr;
  std::uintptr_t base = 0;
  std::uint64_t bytes = 0;
  std::optional<SparseLayout> sparse;
  ArrayStorage() = default;
  ArrayStorage(const ArrayStorage&) = delete;
  ArrayStorage& operator=(const ArrayStorage&) = delete;
  ~ArrayStorage();
};
using ArrayStoragePtr = std::shared_ptr<ArrayStorage>;

struct Array {
  CUDA_ARRAY3D_DESCRIPTOR descriptor{};
  ElementFormat format;
  ArrayLayout layout;  // says nothing where there are planes
  ArrayStoragePtr storage;
  std::vector<Array*> planes;
  Mipmap* mipmap = nullptr;  // whose level it is
  Array* whole = nullptr;    // whose plane it is
  std::uintptr_t base() const { return storage->base + layout.offset; }
};

struct Mipmap {
  CUDA_ARRAY3D_DESCRIPTOR descriptor{};
  std::vector<Array*> levels;
  ArrayStoragePtr storage;
};

CUresult CreateArray(Context* context, const CUDA_ARRAY3D_DESCRIPTOR& description, Array** out);
// `levels` is clamped as documented.
CUresult CreateMipmap(Context* context, const CUDA_ARRAY3D_DESCRIPTOR& description, unsigned levels,
                      Mipmap** out);
// A mipmapped array over memory that lies at `storage` already. INVALID_VALUE: it does not fit.
CUresult CreateMipmapIn(ArrayStoragePtr storage, const CUDA_ARRAY3D_DESCRIPTOR& description,
                        unsigned levels, Mipmap** out);
Array* FindArray(CUarray handle);
Mipmap* FindMipmap(CUmipmappedArray handle);
// REQUIRES: the array is neither a level nor a plane.
void DestroyArray(Array* array);
void DestroyMipmap(Mipmap* mipmap);
void DestroyArraysOf(const Context* context);

}  // namespace cuheap::sim
