#include "tests/sim/engine/race_oracle.h"

#include <algorithm>

#include "tests/sim/engine/race_report.h"

namespace cuheap::sim {

void RaceOracle::SplitAt(std::uintptr_t at) {
  const auto after = cells_.upper_bound(at);
  if (after == cells_.begin()) return;
  const auto cell = std::prev(after);
  if (cell->first == at || cell->second.end <= at) return;
  Cell rest = cell->second;
  cell->second.end = at;
  cells_.emplace_hint(after, at, std::move(rest));
}

void RaceOracle::Check(const Cell& cell, const TouchedRange& range, const AccessRecord& access,
                       const VectorClock& clock) {
  const bool values = access.for_waiting && cell.write.for_waiting;
  if (!values && !clock.Covers(cell.write.moment)) ReportRace({range, cell.write, access});
  if (access.kind == AccessKind::kRead) return;
  for (const AccessRecord& read : cell.reads)
    if (!clock.Covers(read.moment)) ReportRace({range, read, access});
}

void RaceOracle::CheckAll(const TouchedRange& range, const AccessRecord& access,
                          const VectorClock& clock) {
  const std::uintptr_t end = range.base + range.bytes;
  for (auto cell = cells_.lower_bound(range.base); cell != cells_.end() && cell->first < end;
       ++cell)
    Check(cell->second, {cell->first, cell->second.end - cell->first, range.writes}, access, clock);
}

void RaceOracle::Erase(std::uintptr_t base, std::uint64_t bytes) {
  SplitAt(base);
  SplitAt(base + bytes);
  cells_.erase(cells_.lower_bound(base), cells_.lower_bound(base + bytes));
}

void RaceOracle::Replace(std::uintptr_t base, std::uint64_t bytes, const AccessRecord& write) {
  Erase(base, bytes);
  cells_[base] = Cell{base + bytes, write, {}};
}

void RaceOracle::Touch(const TouchedRange& range, const AccessRecord& access,
                       const VectorClock& clock) {
  SplitAt(range.base);
  SplitAt(range.base + range.bytes);
  CheckAll(range, access, clock);
  if (access.kind != AccessKind::kRead) return Replace(range.base, range.bytes, access);
  std::uintptr_t at = range.base;
  const std::uintptr_t end = range.base + range.bytes;
  while (at < end) {
    auto cell = cells_.lower_bound(at);
    if (cell == cells_.end() || cell->first > at) {
      const std::uintptr_t next = cell == cells_.end() ? end : std::min(end, cell->first);
      cell = cells_.emplace_hint(cell, at, Cell{next, {}, {}});
    }
    // A later read of the same queue stands for the earlier one.
    auto& reads = cell->second.reads;
    std::erase_if(reads, [&](const AccessRecord& read) { return clock.Covers(read.moment); });
    reads.push_back(access);
    at = cell->second.end;
  }
}

void RaceOracle::Begin(std::uintptr_t base, std::uint64_t bytes, const AccessRecord& access) {
  Replace(base, bytes, access);
}

void RaceOracle::End(std::uintptr_t base, std::uint64_t bytes, const AccessRecord& access,
                     const VectorClock& clock) {
  SplitAt(base);
  SplitAt(base + bytes);
  CheckAll({base, bytes, true}, access, clock);
  Replace(base, bytes, access);
}

void RaceOracle::Forget(std::uintptr_t base, std::uint64_t bytes, const VectorClock& host) {
  AccessRecord by_host;
  by_host.kind = AccessKind::kFree;
  SplitAt(base);
  SplitAt(base + bytes);
  const auto first = cells_.lower_bound(base);
  const auto last = cells_.lower_bound(base + bytes);
  const bool in_use = std::any_of(first, last, [&](const auto& entry) {
    const Cell& cell = entry.second;
    return (cell.write.kind == AccessKind::kWrite && !host.Covers(cell.write.moment)) ||
           std::any_of(cell.reads.begin(), cell.reads.end(),
                       [&](const AccessRecord& read) { return !host.Covers(read.moment); });
  });
  if (in_use) {
    by_host.stack = CallStackHere();
    CheckAll({base, bytes, true}, by_host, host);
  }
  cells_.erase(first, last);
}

}  // namespace cuheap::sim
