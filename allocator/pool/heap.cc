#include "allocator/pool/heap.h"

namespace cuheap::pool {

using core::BlockId;
using core::SizeClass;

BlockRef Heap::Take(SizeClass size_class, Need* need) {
  if (kSizeClasses.HasSlabs(size_class)) {
    if (const BlockRef cell = TakeCell(size_class)) return cell;
    *need = {&small_, kSizeClasses.SlabOf(size_class), kSizeClasses.rules().slab_unit};
  } else {
    *need = {&small_, kSizeClasses.SizeOf(size_class), 512_B};
  }
  return Adopt(small_.Allocate(need->bytes, need->alignment), *need, size_class);
}

BlockRef Heap::TakeCell(SizeClass size_class) {
  const SlotId slab = with_room_[Value(size_class)];
  return slab == 0 ? BlockRef{} : TakeFromSlab(slab);
}

BlockRef Heap::TakeLarge(Bytes bytes, Bytes alignment, Need* need) {
  *need = {&large_, bytes, alignment};
  return Adopt(large_.Allocate(bytes, alignment), *need, kNoClass);
}

BlockRef Heap::Adopt(BlockId block, const Need& need, SizeClass size_class) {
  if (!block) return {};
  const bool slab = size_class != kNoClass && kSizeClasses.HasSlabs(size_class);
  return slab ? NewSlab(block, size_class) : NewBlock(*need.range, block, size_class);
}

BlockRef Heap::NewSlab(BlockId block, SizeClass size_class) {
  const core::BestFit::Block& room = small_[block];
  const Bytes cell = kSizeClasses.SizeOf(size_class);
  const Extent extent{.begin = room.begin,
                      .bytes = kSizeClasses.SlabOf(size_class),
                      .heap = number_,
                      .block = block,
                      .cell_bytes = static_cast<std::uint32_t>(cell.count()),
                      .size_class = static_cast<std::uint16_t>(size_class),
                      .device = device_};
  const SlotId slab = extents_.AddSlab(extent, kSizeClasses.BlocksInSlab(size_class));
  if (slab == 0) {
    small_.Free(block);
    return {};
  }
  Chain(slab);
  return TakeFromSlab(slab);
}

BlockRef Heap::NewBlock(Range& range, BlockId block, SizeClass size_class) {
  const core::BestFit::Block& room = range[block];
  const SlotId extent = extents_.AddBlock({.begin = room.begin,
                                           .bytes = room.bytes,
                                           .heap = number_,
                                           .block = block,
                                           .size_class = static_cast<std::uint16_t>(size_class),
                                           .device = device_,
                                           .kind = ExtentKind::kBlock,
                                           .use = BlockUse::kCached});
  if (extent == 0) {
    range.Free(block);
    return {};
  }
  CountOut(room.bytes);
  return extents_.RefOf(extent, 0);
}

BlockRef Heap::TakeFromSlab(SlotId slab) {
  core::Slab& cells = extents_.CellsOf(slab).slab;
  const BlockRef block = extents_.RefOf(slab, cells.Take());
  if (cells.free_blocks() == 0) Unchain(slab);
  Store(block.use, BlockUse::kCached);
  CountOut(extents_.BytesOf(block));
  return block;
}

void Heap::Give(const BlockRef& block) {
  Extent& extent = extents_[block.extent];
  out_ -= extents_.BytesOf(block);
  --blocks_out_;
  if (extent.kind != ExtentKind::kSlab) {
    Range& range = extent.size_class == Value(kNoClass) ? large_ : small_;
    const BlockId room = extent.block;
    extents_.Remove(block.extent);
    range.Free(room);
    return;
  }
  Store(block.use, BlockUse::kFree);
  core::Slab& cells = extents_.CellsOf(block.extent).slab;
  if (cells.free_blocks() == 0) Chain(block.extent);
  (void)cells.Give(block.cell);
  if (cells.free_blocks() == kSizeClasses.BlocksInSlab(SizeClass(extent.size_class)))
    DropSlab(block.extent);
}

void Heap::Chain(SlotId slab) {
  Extent& extent = extents_[slab];
  SlotId& first = with_room_[extent.size_class];
  extent.before = 0;
  extent.next = first;
  if (first != 0) extents_[first].before = slab;
  first = slab;
  extent.chained = true;
}

void Heap::Unchain(SlotId slab) {
  Extent& extent = extents_[slab];
  if (extent.next != 0) extents_[extent.next].before = extent.before;
  if (extent.before != 0)
    extents_[extent.before].next = extent.next;
  else
    with_room_[extent.size_class] = extent.next;
  extent.chained = false;
}

void Heap::DropSlab(SlotId slab) {
  Unchain(slab);
  const BlockId room = extents_[slab].block;
  extents_.Remove(slab);
  small_.Free(room);
}

const char* Heap::FirstBrokenLaw() {
  if (const char* broken = small_.FirstBrokenLaw()) return broken;
  if (const char* broken = large_.FirstBrokenLaw()) return broken;
  Bytes out;
  const char* broken = nullptr;
  extents_.ForEach([&](SlotId id) {
    const Extent& extent = extents_[id];
    if (extent.heap != number_ || extent.device != device_ || !extent.block) return;
    if (extent.kind != ExtentKind::kSlab) {
      out += extent.bytes;
      return;
    }
    const core::Slab& cells = extents_.CellsOf(id).slab;
    const std::uint32_t all = kSizeClasses.BlocksInSlab(SizeClass(extent.size_class));
    out += Bytes(std::uint64_t{all - cells.free_blocks()} * extent.cell_bytes);
    if (extent.chained != (cells.free_blocks() > 0) || cells.free_blocks() == all)
      broken = "heap law 1: a slab is chained while it has room, an empty one is given back";
  });
  if (broken != nullptr) return broken;
  return out == out_ ? nullptr : "heap law 3: what is out is what was taken";
}

void Heap::Clear() {
  small_.Clear();
  large_.Clear();
  with_room_ = {};
  out_ = {};
  blocks_out_ = 0;
}

}  // namespace cuheap::pool
