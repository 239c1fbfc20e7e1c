#include "tests/sim/engine/array_mapping.h"

#include <map>

#include "tests/sim/engine/allocation_table.h"
#include "tests/sim/engine/array.h"
#include "tests/sim/engine/array_limits.h"
#include "tests/sim/engine/engine_lock.h"
#include "tests/sim/engine/virtual_memory.h"

namespace cuheap::sim {
namespace {

using Pieces = std::map<std::uintptr_t, PhysicalPtr>;  // one for each tile

// Tiles that have memory.
Pieces& Resident() {
  static auto& map = *new Pieces;
  return map;
}

// What the entry names: the array's memory, and its levels.
struct Target {
  const ArrayStorage* storage = nullptr;
  std::vector<const Array*> levels;
  CUDA_ARRAY3D_DESCRIPTOR descriptor{};
};

CUresult TargetOf(const CUarrayMapInfo& info, Target* out) {
  if (info.resourceType == CU_RESOURCE_TYPE_ARRAY) {
    const Array* array = FindArray(info.resource.array);
    if (array == nullptr) return CUDA_ERROR_INVALID_HANDLE;
    if (array->mipmap != nullptr || array->whole != nullptr) return CUDA_ERROR_INVALID_VALUE;
    *out = {array->storage.get(), {array}, array->descriptor};
    return CUDA_SUCCESS;
  }
  if (info.resourceType != CU_RESOURCE_TYPE_MIPMAPPED_ARRAY) return CUDA_ERROR_INVALID_VALUE;
  const Mipmap* mipmap = FindMipmap(info.resource.mipmap);
  if (mipmap == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  *out = {
      mipmap->storage.get(), {mipmap->levels.begin(), mipmap->levels.end()}, mipmap->descriptor};
  return CUDA_SUCCESS;
}

void AddTiles(std::uintptr_t base, std::uint64_t bytes, MapArrayOp* out) {
  for (std::uint64_t at = 0; at < bytes; at += kTileBytes) out->tiles.push_back(base + at);
}

// Offsets are whole tiles; an extent is too, or ends where the level ends.
bool IsWholeTiles(std::uint64_t offset, std::uint64_t extent, std::uint64_t limit,
                  std::uint64_t tile) {
  if (extent == 0 || offset % tile != 0 || offset >= limit) return false;
  const std::uint64_t end = offset + extent;
  return end == limit || (end % tile == 0 && end <= RoundedUp(limit, tile));
}

CUresult ReadLevel(const CUarrayMapInfo& info, const Target& target, MapArrayOp* out) {
  const auto& region = info.subresource.sparseLevel;
  if (region.level >= target.levels.size()) return CUDA_ERROR_INVALID_VALUE;
  const Array& level = *target.levels[region.level];
  const Tiling& tiling = level.layout.tiling;
  if (tiling.row_bytes == 0) return CUDA_ERROR_INVALID_VALUE;  // in the mip tail
  const CUDA_ARRAY3D_DESCRIPTOR& shape = level.descriptor;
  const auto& tile = target.storage->sparse->properties.tileExtent;
  const bool layered = (shape.Flags & CUDA_ARRAY3D_LAYERED) != 0;
  const bool flat = layered || shape.Depth == 0;
  if (!IsWholeTiles(region.offsetX, region.extentWidth, shape.Width, tile.width) ||
      !IsWholeTiles(region.offsetY, region.extentHeight, shape.Height, tile.height)) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  if (layered ? region.layer >= shape.Depth : region.layer != 0) return CUDA_ERROR_INVALID_VALUE;
  if (flat ? region.offsetZ != 0 || region.extentDepth != 1
           : !IsWholeTiles(region.offsetZ, region.extentDepth, shape.Depth, tile.depth)) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  const std::uint64_t z0 = layered ? region.layer : region.offsetZ;
  for (std::uint64_t z = z0; z < z0 + region.extentDepth; z += tile.depth) {
    for (std::uint64_t y = region.offsetY; y < std::uint64_t{region.offsetY} + region.extentHeight;
         y += tile.height) {
      const std::uint64_t x = region.offsetX / tile.width * tiling.row_bytes;
      const std::uint64_t row = y / level.format.block;
      const std::uint64_t count = (region.extentWidth + tile.width - 1) / tile.width;
      AddTiles(level.base() + tiling.TileAt(x, row, z) * kTileBytes, count * kTileBytes, out);
    }
  }
  return CUDA_SUCCESS;
}

CUresult ReadTail(const CUarrayMapInfo& info, const Target& target, MapArrayOp* out) {
  const auto& region = info.subresource.miptail;
  const SparseLayout& sparse = *target.storage->sparse;
  const bool aligned = region.offset % kTileBytes == 0 && region.size % kTileBytes == 0;
  if (!aligned || region.size == 0 || region.layer >= sparse.tails) return CUDA_ERROR_INVALID_VALUE;
  if (region.offset >= sparse.tail_bytes || region.size > sparse.tail_bytes - region.offset) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  AddTiles(
      target.storage->base + sparse.tail_offset + region.layer * sparse.tail_bytes + region.offset,
      region.size, out);
  return CUDA_SUCCESS;
}

CUresult ReadPlace(const CUarrayMapInfo& info, const Target& target, MapArrayOp* out) {
  const unsigned flags = target.descriptor.Flags;
  if ((flags & CUDA_ARRAY3D_DEFERRED_MAPPING) != 0) {
    AddTiles(target.storage->base, target.storage->bytes, out);
    return CUDA_SUCCESS;
  }
  if ((flags & CUDA_ARRAY3D_SPARSE) == 0) return CUDA_ERROR_INVALID_VALUE;
  switch (info.subresourceType) {
    case CU_ARRAY_SPARSE_SUBRESOURCE_TYPE_SPARSE_LEVEL:
      return ReadLevel(info, target, out);
    case CU_ARRAY_SPARSE_SUBRESOURCE_TYPE_MIPTAIL:
      return ReadTail(info, target, out);
    default:
      return CUDA_ERROR_INVALID_VALUE;
  }
}

CUresult ReadMemory(const CUarrayMapInfo& info, int device, MapArrayOp* out) {
  if (info.memOperationType == CU_MEM_OPERATION_TYPE_UNMAP) {
    return info.memHandle.memHandle == 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
  }
  if (info.memOperationType != CU_MEM_OPERATION_TYPE_MAP ||
      info.memHandleType != CU_MEM_HANDLE_TYPE_GENERIC) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  const PhysicalHandle* handle = FindHandle(info.memHandle.memHandle);
  if (handle == nullptr || handle->pages == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  const bool tile_pool = (handle->properties.allocFlags.usage & CU_MEM_CREATE_USAGE_TILE_POOL) != 0;
  const std::uint64_t wanted = out->tiles.size() * kTileBytes;
  const std::uint64_t there = handle->pages->bytes();
  if (!tile_pool || handle->pages->device() != device || info.offset % kTileBytes != 0 ||
      info.offset > there || wanted > there - info.offset) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  out->pages = handle->pages;
  out->offset = info.offset;
  return CUDA_SUCCESS;
}

// An array that was destroyed behind its queued work has given its addresses back.
bool IsReserved(std::uintptr_t tile) {
  const Allocation* range = FindAllocation(tile);
  return range != nullptr && range->type == AllocationType::kArrayRange;
}

}  // namespace

CUresult ReadMapInfo(const CUarrayMapInfo& info, int device, MapArrayOp* out) {
  const EngineLock lock;
  if (info.flags != 0 || info.reserved[0] != 0 || info.reserved[1] != 0 ||
      info.deviceBitMask != 1U << device) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  Target target;
  CUresult result = TargetOf(info, &target);
  MapArrayOp operation;
  if (result == CUDA_SUCCESS) result = ReadPlace(info, target, &operation);
  if (result == CUDA_SUCCESS) result = ReadMemory(info, device, &operation);
  if (result == CUDA_SUCCESS) *out = std::move(operation);
  return result;
}

CUresult MapArrayPieces(const MapArrayOp& operation) {
  const EngineLock lock;
  std::uint64_t offset = operation.offset;
  for (const std::uintptr_t tile : operation.tiles) {
    if (!IsReserved(tile)) return CUDA_ERROR_ILLEGAL_ADDRESS;
    if (operation.pages == nullptr) {
      if (!UnmapPages(tile, kTileBytes)) return CUDA_ERROR_OUT_OF_MEMORY;
      Resident().erase(tile);
      continue;
    }
    if (!MapPages({tile, kTileBytes, operation.pages}, offset, Access::kReadWrite)) {
      return CUDA_ERROR_OUT_OF_MEMORY;
    }
    Resident()[tile] = operation.pages;
    offset += kTileBytes;
  }
  return CUDA_SUCCESS;
}

bool IsResident(const std::vector<TouchedRange>& ranges) {
  const EngineLock lock;
  for (const TouchedRange& range : ranges) {
    const Allocation* block = FindAllocation(range.base);
    if (block == nullptr || block->type != AllocationType::kArrayRange) continue;
    const std::uintptr_t first = range.base - (range.base - block->base) % kTileBytes;
    for (std::uintptr_t tile = first; tile < range.base + range.bytes; tile += kTileBytes) {
      if (Resident().count(tile) == 0) return false;
    }
  }
  return true;
}

void ForgetPieces(std::uintptr_t base, std::uint64_t bytes) {
  const EngineLock lock;
  Resident().erase(Resident().lower_bound(base), Resident().lower_bound(base + bytes));
}

}  // namespace cuheap::sim
