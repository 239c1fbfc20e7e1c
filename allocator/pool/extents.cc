#include "allocator/pool/extents.h"

#include <mutex>

namespace cuheap::pool {
namespace {

Address UnitOf(std::uint64_t address) { return Address(address & ~(RadixMap::kUnit.count() - 1)); }

// A slab owns all its units, another extent the one in which it begins.
Bytes UnitsOf(const Extent& extent) {
  return extent.kind == ExtentKind::kSlab ? extent.bytes : RadixMap::kUnit;
}

}  // namespace

SlotId ExtentTable::Add(const Extent& extent) {
  const SlotId id = extents_.Add(extent);
  if (id == 0) return 0;
  if (!map_.Set(UnitOf(extent.begin), UnitsOf(extent), id)) {
    extents_[id].kind = ExtentKind::kNone;
    extents_.Remove(id);
    return 0;
  }
  return id;
}

SlotId ExtentTable::AddBlock(const Extent& extent) {
  const std::lock_guard lock(mutex_);
  return Add(extent);
}

SlotId ExtentTable::AddSlab(const Extent& extent, std::uint32_t cells) {
  const std::lock_guard lock(mutex_);
  Extent slab = extent;
  slab.kind = ExtentKind::kSlab;
  slab.cell_factor =
      static_cast<std::uint32_t>((1u << kFactorLog2) / (extent.cell_bytes >> kGranuleLog2) + 1);
  slab.cells = cells_.Add({.slab = core::Slab(cells)});
  if (slab.cells == 0) return 0;
  const SlotId id = Add(slab);
  if (id == 0) cells_.Remove(slab.cells);
  return id;
}

void ExtentTable::Remove(SlotId id) {
  const std::lock_guard lock(mutex_);
  Extent& extent = extents_[id];
  // Units that were forgotten already exist: never fails.
  (void)map_.Set(UnitOf(extent.begin), UnitsOf(extent), 0);
  if (extent.cells != 0) cells_.Remove(extent.cells);
  extent.kind = ExtentKind::kNone;
  extents_.Remove(id);
}

void ExtentTable::Lose(SlotId id) {
  Extent& extent = extents_[id];
  extent.block = {};
  if (extent.kind != ExtentKind::kSlab) return Store(&extents_[id].use, BlockUse::kLost);
  for (BlockUse& use : CellsOf(id).uses) Store(&use, BlockUse::kLost);
}

BlockRef ExtentTable::RefOf(SlotId id, std::uint32_t cell) {
  Extent& extent = extents_[id];
  const bool slab = extent.kind == ExtentKind::kSlab;
  return {id, cell, slab ? &cells_[extent.cells].uses[cell] : &extent.use};
}

void ExtentTable::Release() {
  extents_.Release();
  cells_.Release();
  map_.Release();
}

}  // namespace cuheap::pool
