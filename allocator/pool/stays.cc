#include "allocator/pool/stays.h"

namespace cuheap::pool {
namespace {

using State = core::BlockState;

StayReason ReasonOf(BlockUse use) {
  if (use == BlockUse::kWaiting) return StayReason::kWaiting;
  return use == BlockUse::kCached ? StayReason::kCached : StayReason::kLive;
}

}  // namespace

void StayList::Look(Heap& heap, ExtentTable& extents, bool graph) {
  LookIn(heap.small(), heap, extents, graph);
  LookIn(heap.large(), heap, extents, graph);
}

// A free stretch is kept by the held block before it, or by the one behind it where it is the
// first.
void StayList::LookIn(const Range& range, const Heap& heap, ExtentTable& extents, bool graph) {
  range.ForEachSegment([&](const Segment& segment) {
    Stay keeper;
    Bytes before;  // free, and nothing held seen yet
    range.ForEachBlock(segment, [&](const core::BestFit::Block& block) {
      if (block.state == State::kUnmapped) {
        keeper = {};
        return;
      }
      if (block.state == State::kFree) {
        if (keeper.block != Address{}) {
          keeper.bytes = block.bytes;
          Add(keeper);
        } else {
          before = block.bytes;
        }
        return;
      }
      keeper = KeeperOf(block, heap, extents);
      if (graph) keeper.reason = StayReason::kGraph;
      keeper.bytes += before;
      before = Bytes();
      if (keeper.bytes != Bytes()) Add(keeper);
    });
    if (before == Bytes()) return;
    Add({.reason = graph ? StayReason::kGraph : StayReason::kBusy,
         .block = Address(segment.begin),
         .bytes = before,
         .stream = heap.handle(),
         .arena = heap.key().arena});
  });
}

// Of a slab its first cell that is out: it keeps the free cells, and the tail.
Stay StayList::KeeperOf(const core::BestFit::Block& block, const Heap& heap, ExtentTable& extents) {
  Stay stay;
  stay.block = Address(block.begin);
  stay.stream = heap.handle();
  stay.arena = heap.key().arena;
  BlockRef first = extents.Find(Address(block.begin));
  if (!first) return stay;
  const Extent& extent = extents[first.extent];
  if (extent.kind == ExtentKind::kSlab) {
    const core::Slab& slab = extents.CellsOf(first.extent).slab;
    std::uint32_t cell = 0;
    while (!slab.IsOut(cell)) ++cell;
    first = extents.RefOf(first.extent, cell);
    const std::uint32_t cells = kSizeClasses.BlocksInSlab(core::SizeClass(extent.size_class));
    const std::uint64_t out = cells - slab.free_blocks();
    stay.bytes = extent.bytes - Bytes(out * extent.cell_bytes);
  }
  stay.block = extents.AddressOf(first);
  stay.reason = ReasonOf(Load(first));
  return stay;
}

void StayList::Add(const Stay& stay) {
  result_.stayed += stay.bytes;
  if (result_.reasons < room_.size()) room_[result_.reasons] = stay;
  ++result_.reasons;
}

}  // namespace cuheap::pool
