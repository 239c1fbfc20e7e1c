#include "allocator/pool/growth.h"

#include <algorithm>
#include <mutex>

#include "allocator/pool/driver_status.h"

namespace cuheap::pool {
namespace {

// Pages that are mapped between two looks at the lock.
constexpr std::uint32_t kChunk = 64;

constexpr Bytes kSmallestSegment = 2_MiB;  // what cudaMalloc takes multiples of
constexpr Bytes kUsualSegment = 32_MiB;

}  // namespace

Status DevicePool::Grow(Heap& heap, const Order& order, const Need& need, Effort effort,
                        BlockRef* block) {
  if (rules_.granule == Bytes()) {
    if (const Status grown = GrowDriver(need); !grown.ok()) return grown;
    const std::lock_guard lock(mutex_);
    Need still;
    *block = TakeFrom(heap, order, &still);
    return {*block ? Code::kOk : Code::kOutOfMemory};
  }
  Growth growth(heap, need, order);
  if (const Status grown = GrowVirtual(&growth, effort); !grown.ok()) {
    RollBack(&growth);
    return grown;
  }
  const std::lock_guard lock(mutex_);
  pages_.Spare(&growth.pages);
  *block = heap.Adopt(need.range->Settle(growth.claim), need, order.size_class);
  return {*block ? Code::kOk : Code::kFailed};
}

Status DevicePool::GrowVirtual(Growth* growth, Effort effort) {
  if (!PlanWindow(growth)) {
    if (const Status added = AddSegment(*growth); !added.ok()) return added;
    if (!PlanWindow(growth)) return {Code::kFailed};
  }
  DecideMoves(growth, effort);
  if (growth->moves > 0) {
    const DriverStatus moved =
        MovePages(&growth->heap, growth->stream, effort, growth->moves, &growth->pages);
    if (moved.code == DriverCode::kGone) return StatusOf(moved);
  }
  if (const Status created = CreatePages(growth); !created.ok()) return created;
  return MapPages(growth);
}

bool DevicePool::PlanWindow(Growth* growth) {
  const std::lock_guard lock(mutex_);
  growth->claim = growth->need.range->ClaimWindow(growth->need.bytes, growth->need.alignment);
  if (!growth->claim) return false;
  pages_.TakeSpare(growth->claim.missing_pages, &growth->pages);
  return true;
}

// Moving costs a wait for the stream and, in a loop that comes back to the same sizes, is undone at
// the next turn. So new pages are better while little is idle, and each new page pays for a few
// moves: a loop that would move for ever gets the pages that end it. Graphs keep their pages.
void DevicePool::DecideMoves(Growth* growth, Effort effort) {
  constexpr std::uint64_t kPercent = 100;
  constexpr std::uint64_t kMovesPerPage = 4;
  const std::uint32_t missing = growth->claim.missing_pages - growth->pages.count;
  if (missing == 0 || growth->capturing) return;
  if (effort != Effort::kCalm) {
    growth->moves = missing;
    return;
  }
  const std::lock_guard lock(mutex_);
  if (arenas_.IsGraph(growth->heap.key().arena)) return;
  const Bytes idle = growth->heap.small().Idle() + growth->heap.large().Idle();
  const Bytes slack(committed_.count() / kPercent * options_.slack_percent);
  if (idle <= slack) return;
  const std::uint64_t beyond = PagesIn(idle - slack);
  const std::uint64_t paid = kMovesPerPage * created_pages_;
  const std::uint64_t credit = paid - std::min(paid, calm_moves_);
  growth->moves = static_cast<std::uint32_t>(std::min({std::uint64_t{missing}, beyond, credit}));
  calm_moves_ += growth->moves;
}

Status DevicePool::CreatePages(Growth* growth) {
  while (growth->pages.count < growth->claim.missing_pages) {
    if (!TakeBudget(rules_.granule)) return {Code::kOutOfMemory};
    PagesHandle pages{};
    const DriverStatus created = driver_.CreatePages(device_, rules_.granule, rules_, &pages);
    if (!created.ok()) {
      ReturnBudget(rules_.granule);
      return StatusOf(created);
    }
    core::HandleId id;
    {
      const std::lock_guard lock(mutex_);
      id = pages_.Add(pages);
      if (id != core::HandleId::kNone) {
        pages_.Push(&growth->pages, id);
        ++created_pages_;
      }
    }
    if (id == core::HandleId::kNone) {
      (void)driver_.DestroyPages(pages);
      ReturnBudget(rules_.granule);
      return {Code::kFailed};
    }
    ++growth->created;
  }
  return {};
}

Status DevicePool::MapPages(Growth* growth) {
  for (;;) {
    PageRun run;
    {
      const std::lock_guard lock(mutex_);
      run = growth->need.range->NextMissing(growth->claim);
    }
    if (run.pages == 0) return {};
    run.pages = std::min(run.pages, kChunk);
    if (const Status mapped = MapChunk(growth, run); !mapped.ok()) return mapped;
  }
}

// All of the run, or nothing of it.
Status DevicePool::MapChunk(Growth* growth, const PageRun& run) {
  std::array<core::HandleId, kChunk> ids{};
  std::array<PagesHandle, kChunk> handles{};
  core::PageMap& map = growth->claim.segment->pages;
  std::uint64_t access = 0;
  {
    const std::lock_guard lock(mutex_);
    access = access_;
    for (std::uint32_t i = 0; i < run.pages; ++i) {
      ids[i] = pages_.Pop(&growth->pages);
      handles[i] = pages_[ids[i]];
    }
  }
  const auto address = [&](std::uint32_t i) { return Address(map.AddressOf(run.first + i)); };
  DriverStatus status;
  std::uint32_t mapped = 0;
  while (mapped < run.pages && status.ok()) {
    status = driver_.Map(address(mapped), rules_.granule, handles[mapped]);
    mapped += status.ok() ? 1 : 0;
  }
  if (status.ok()) status = driver_.SetAccess(address(0), BytesOf(run.pages), access);
  const bool done = status.ok();
  // What cannot be unmapped again stays: it lies first.
  if (!done)
    while (mapped > 0 && driver_.Unmap(address(mapped - 1), rules_.granule).ok()) --mapped;
  const std::lock_guard lock(mutex_);
  for (std::uint32_t i = 0; i < run.pages; ++i) {
    const bool kept = done || i < mapped;
    if (kept && map.Map({ids[i], run.first + i, 1})) continue;
    pages_.Push(&growth->pages, ids[i]);
  }
  if (done && growth->mapped_runs < Growth::kMostRuns) growth->mapped[growth->mapped_runs++] = run;
  return StatusOf(status);
}

// What was mapped is unmapped, what was created is destroyed, and the claim is given up.
void DevicePool::RollBack(Growth* growth) {
  core::PageMap* map = growth->claim ? &growth->claim.segment->pages : nullptr;
  for (std::size_t i = 0; i < growth->mapped_runs; ++i) {
    const PageRun& run = growth->mapped[i];
    for (std::uint32_t page = run.first; page < run.first + run.pages; ++page) {
      if (!driver_.Unmap(Address(map->AddressOf(page)), rules_.granule).ok()) continue;
      const std::lock_guard lock(mutex_);
      const core::Mapping mapping = map->At(page);
      map->Unmap(mapping);
      pages_.Push(&growth->pages, mapping.handle);
    }
  }
  {
    const std::lock_guard lock(mutex_);
    pages_.Spare(&growth->pages);
    if (growth->claim) growth->need.range->Abandon(growth->claim);
  }
  (void)DestroySpare(growth->created);
}

// A virtual range is longer than the device has memory, so that no request meets its end while
// memory is there; small blocks get a shorter one.
Status DevicePool::AddSegment(const Growth& growth) {
  constexpr std::uint64_t kShare = 8;
  const bool large = growth.need.range == &growth.heap.large();
  const Bytes eighth(total_.count() / kShare);
  const Bytes usual = large ? total_ + eighth : eighth;
  const Bytes needed = growth.need.bytes + growth.need.alignment;
  if (needed < growth.need.bytes || needed > total_) return {Code::kOutOfMemory};
  const Bytes bytes = std::max(usual, needed).RoundedUpTo(rules_.granule);
  Address begin{};
  const DriverStatus reserved = driver_.Reserve(bytes, rules_.granule, &begin);
  if (!reserved.ok()) return StatusOf(reserved);
  bool added = false;
  {
    const std::lock_guard lock(mutex_);
    added = growth.need.range->AddVirtual(begin, bytes, rules_.granule);
  }
  if (!added) (void)driver_.ReleaseRange(begin, bytes);
  return {added ? Code::kOk : Code::kFailed};
}

// Driver allocations grow with what the range has, so that their number stays small.
Status DevicePool::GrowDriver(const Need& need) {
  constexpr std::uint64_t kShare = 4;
  const Bytes needed = (need.bytes + need.alignment - 512_B).RoundedUpTo(kSmallestSegment);
  if (need.bytes > total_) return {Code::kOutOfMemory};
  Bytes usual;
  {
    const std::lock_guard lock(mutex_);
    usual = std::min(Bytes(need.range->mapped().count() / kShare), kUsualSegment)
                .RoundedUpTo(kSmallestSegment);
  }
  Status status{Code::kOutOfMemory};
  for (const Bytes bytes : {std::max(needed, usual), needed}) {
    status = AddDriverSegment(need.range, bytes);
    if (status.code != Code::kOutOfMemory) break;
  }
  return status;
}

Status DevicePool::AddDriverSegment(Range* range, Bytes bytes) {
  Address begin{};
  if (const Status bought = Buy(bytes, &begin); !bought.ok()) return bought;
  bool added = false;
  {
    const std::lock_guard lock(mutex_);
    added = range->AddDriver(begin, bytes);
  }
  if (added) return {};
  (void)driver_.Free(device_, begin);
  ReturnBudget(bytes);
  return {Code::kFailed};
}

Status DevicePool::Buy(Bytes bytes, Address* address) {
  if (!TakeBudget(bytes)) return {Code::kOutOfMemory};
  const DriverStatus allocated = driver_.Allocate(device_, bytes, address);
  if (!allocated.ok()) ReturnBudget(bytes);
  return StatusOf(allocated);
}

bool DevicePool::TakeBudget(Bytes bytes) {
  const std::lock_guard lock(mutex_);
  if (options_.limit != Bytes() &&
      (committed_ > options_.limit || bytes > options_.limit - committed_))
    return false;
  committed_ += bytes;
  return true;
}

void DevicePool::ReturnBudget(Bytes bytes) {
  const std::lock_guard lock(mutex_);
  committed_ -= bytes;
}

}  // namespace cuheap::pool
