#include "tests/sim/engine/array.h"

#include <algorithm>

#include "tests/sim/engine/array_limits.h"
#include "tests/sim/engine/device_memory.h"
#include "tests/sim/engine/engine_lock.h"
#include "tests/sim/engine/handle_pool.h"

namespace cuheap::sim {
namespace {

HandlePool<Array>& Arrays() {
  static auto& pool = *new HandlePool<Array>;
  return pool;
}

HandlePool<Mipmap>& Mipmaps() {
  static auto& pool = *new HandlePool<Mipmap>;
  return pool;
}

bool IsMappedLater(const CUDA_ARRAY3D_DESCRIPTOR& description) {
  return (description.Flags & (CUDA_ARRAY3D_SPARSE | CUDA_ARRAY3D_DEFERRED_MAPPING)) != 0;
}

CUresult ReserveStorage(ArrayStorage* storage) {
  Allocation range;
  range.base = ReserveAddresses(storage->bytes, kPageBytes, 0);
  if (range.base == 0) return CUDA_ERROR_OUT_OF_MEMORY;
  range.bytes = storage->bytes;
  range.type = AllocationType::kArrayRange;
  range.device = storage->context->device;
  range.context = storage->context;
  storage->base = AddAllocation(std::move(range)).base;
  return CUDA_SUCCESS;
}

// Memory for `parts`, or addresses where memory is mapped later. Their layouts go to `*layouts`.
CUresult NewStorage(Context* context, const std::vector<CUDA_ARRAY3D_DESCRIPTOR>& parts,
                    bool mipmapped, ArrayStoragePtr* out, std::vector<ArrayLayout>* layouts) {
  auto storage = std::make_shared<ArrayStorage>();
  storage->context = context;
  StorageLayout layout;
  if ((parts.front().Flags & CUDA_ARRAY3D_SPARSE) != 0) {
    storage->sparse = LayOutSparse(parts, mipmapped);
    layout = storage->sparse->storage;
  } else {
    layout = LayOut(parts);
  }
  storage->bytes = layout.bytes;
  CUresult result = CUDA_SUCCESS;
  if (IsMappedLater(parts.front())) {
    storage->bytes = RoundedUp(layout.bytes, kTileBytes);
    result = ReserveStorage(storage.get());
  } else {
    result = AllocateLinear(context, layout.bytes, &storage->base, MemoryKind::kArray);
  }
  if (result != CUDA_SUCCESS) return result;
  *layouts = std::move(layout.parts);
  *out = std::move(storage);
  return CUDA_SUCCESS;
}

Array* NewArray(const CUDA_ARRAY3D_DESCRIPTOR& description, const ArrayStoragePtr& storage) {
  Array* array = Arrays().New();
  array->descriptor = description;
  array->format = *FormatOf(description.Format, description.NumChannels);
  array->storage = storage;
  return array;
}

std::vector<CUDA_ARRAY3D_DESCRIPTOR> LevelsOf(const CUDA_ARRAY3D_DESCRIPTOR& base,
                                              unsigned levels) {
  std::vector<CUDA_ARRAY3D_DESCRIPTOR> list;
  for (unsigned i = 0; i < std::clamp(levels, 1U, MostLevels(base)); ++i) {
    list.push_back(LevelOf(base, i));
  }
  return list;
}

Mipmap* NewMipmap(const std::vector<CUDA_ARRAY3D_DESCRIPTOR>& levels, ArrayStoragePtr storage,
                  const std::vector<ArrayLayout>& layouts) {
  Mipmap* mipmap = Mipmaps().New();
  mipmap->descriptor = levels.front();
  for (std::size_t i = 0; i < levels.size(); ++i) {
    mipmap->levels.push_back(NewArray(levels[i], storage));
    mipmap->levels.back()->layout = layouts[i];
    mipmap->levels.back()->mipmap = mipmap;
  }
  mipmap->storage = std::move(storage);
  return mipmap;
}

}  // namespace

ArrayStorage::~ArrayStorage() {
  const EngineLock lock;
  if (base != 0) Discard(base);
}

CUresult CreateArray(Context* context, const CUDA_ARRAY3D_DESCRIPTOR& description, Array** out) {
  const CUresult valid = CheckArray(context->device, description, false);
  if (valid != CUDA_SUCCESS) return valid;
  std::vector<CUDA_ARRAY3D_DESCRIPTOR> planes;
  for (unsigned i = 0; const auto plane = PlaneOf(description, i); ++i) planes.push_back(*plane);
  const bool planar = !planes.empty();
  if (!planar) planes.push_back(description);
  const EngineLock lock;
  ArrayStoragePtr storage;
  std::vector<ArrayLayout> layouts;
  const CUresult result = NewStorage(context, planes, false, &storage, &layouts);
  if (result != CUDA_SUCCESS) return result;
  Array* array = NewArray(description, storage);
  if (!planar) array->layout = layouts.front();
  for (std::size_t i = 0; planar && i < planes.size(); ++i) {
    array->planes.push_back(NewArray(planes[i], storage));
    array->planes.back()->layout = layouts[i];
    array->planes.back()->whole = array;
  }
  *out = array;
  return CUDA_SUCCESS;
}

CUresult CreateMipmap(Context* context, const CUDA_ARRAY3D_DESCRIPTOR& description, unsigned levels,
                      Mipmap** out) {
  const CUresult valid = CheckArray(context->device, description, true);
  if (valid != CUDA_SUCCESS) return valid;
  const auto parts = LevelsOf(description, levels);
  const EngineLock lock;
  ArrayStoragePtr storage;
  std::vector<ArrayLayout> layouts;
  const CUresult result = NewStorage(context, parts, true, &storage, &layouts);
  if (result != CUDA_SUCCESS) return result;
  *out = NewMipmap(parts, std::move(storage), layouts);
  return CUDA_SUCCESS;
}

CUresult CreateMipmapIn(ArrayStoragePtr storage, const CUDA_ARRAY3D_DESCRIPTOR& description,
                        unsigned levels, Mipmap** out) {
  const CUresult valid = CheckArray(storage->context->device, description, true);
  if (valid != CUDA_SUCCESS) return valid;
  const auto parts = LevelsOf(description, levels);
  const StorageLayout layout = LayOut(parts);
  if (IsMappedLater(description) || layout.bytes > storage->bytes) return CUDA_ERROR_INVALID_VALUE;
  const EngineLock lock;
  *out = NewMipmap(parts, std::move(storage), layout.parts);
  return CUDA_SUCCESS;
}

Array* FindArray(CUarray handle) { return Arrays().Find(handle); }
Mipmap* FindMipmap(CUmipmappedArray handle) { return Mipmaps().Find(handle); }

void DestroyArray(Array* array) {
  const EngineLock lock;
  for (Array* plane : array->planes) Arrays().Delete(plane);
  Arrays().Delete(array);
}

void DestroyMipmap(Mipmap* mipmap) {
  const EngineLock lock;
  for (Array* level : mipmap->levels) Arrays().Delete(level);
  Mipmaps().Delete(mipmap);
}

void DestroyArraysOf(const Context* context) {
  const EngineLock lock;
  Mipmaps().ForEach([&](Mipmap* mipmap) {
    if (mipmap->storage->context == context) DestroyMipmap(mipmap);
  });
  Arrays().ForEach([&](Array* array) {
    if (array->storage->context == context && array->whole == nullptr) DestroyArray(array);
  });
}

}  // namespace cuheap::sim
