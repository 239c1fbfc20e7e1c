#include "tools/analysis/balance.h"

#include <algorithm>

namespace cuheap::analysis {
namespace {

using trace::Block;
using trace::Trace;

class Rows {
 public:
  explicit Rows(const Trace& trace) : trace_(trace) {}

  HeapRow& At(format::Heap heap) {
    const auto [place, is_new] = rows_.try_emplace(heap);
    if (is_new) {
      const trace::HeapFacts facts = trace::FactsOf(heap);
      place->second.heap = heap;
      place->second.name = trace_.dictionary.heap_name(heap);
      place->second.in_used = facts.in_used;
      if (facts.sees_requested) place->second.rounding = 0;
      // A heap of the driver gives memory back in the call that frees it: it sees that nothing
      // waits.
      if (facts.sees_waiting) place->second.waiting = 0;
    }
    return place->second;
  }

  void AddLive(const Block& block) {
    HeapRow& row = At(block.heap);
    ++row.live_blocks;
    if (row.rounding.has_value()) {
      row.live += block.live_bytes();
      *row.rounding += block.block_bytes - block.live_bytes();
    } else {
      row.live += block.block_bytes;
    }
  }

  std::vector<HeapRow> Take() {
    std::vector<HeapRow> rows;
    for (auto& [heap, row] : rows_) rows.push_back(std::move(row));
    return rows;
  }

 private:
  const Trace& trace_;
  std::map<format::Heap, HeapRow> rows_;
};

// Pools of the driver are opaque: what they hold beyond the blocks in use is known from their own
// figures only.
void AddPools(const format::DeviceFigures& figures, Rows* rows) {
  if (figures.pool_reserved_bytes == 0) return;
  HeapRow& row = rows->At(format::Heap::k_async);
  const std::uint64_t blocks = row.live + row.rounding.value_or(0);
  const std::uint64_t used = std::max(figures.pool_used_bytes, blocks);
  row.holes += used - blocks;
  row.idle += figures.pool_reserved_bytes > used ? figures.pool_reserved_bytes - used : 0;
}

void Add(std::optional<std::uint64_t>* sum, const std::optional<std::uint64_t>& part) {
  if (part.has_value()) *sum = sum->value_or(0) + *part;
}

void Sum(Balance* balance) {
  bool rounding_seen = true;
  bool waiting_seen = true;
  for (const HeapRow& row : balance->heaps) {
    if (!row.in_used) continue;
    balance->live += row.live;
    balance->holes += row.holes;
    balance->idle += row.idle;
    Add(&balance->rounding, row.rounding);
    Add(&balance->waiting, row.waiting);
    rounding_seen = rounding_seen && (row.rounding.has_value() || row.reserved() == 0);
    waiting_seen = waiting_seen && (row.waiting.has_value() || row.reserved() == 0);
  }
  // A sum with an unknown part is unknown, unless the part that is known already says something.
  if (!rounding_seen && balance->rounding.value_or(0) == 0) balance->rounding.reset();
  if (!waiting_seen && balance->waiting.value_or(0) == 0) balance->waiting.reset();
  if (balance->used.has_value()) {
    balance->untracked = static_cast<std::int64_t>(*balance->used - balance->reserved());
  }
}

}  // namespace

std::vector<const Block*> AliveAt(const Trace& trace, std::size_t device, std::uint64_t time) {
  std::vector<const Block*> alive;
  for (const Block& block : trace.blocks) {
    if (block.device == device && block.AliveAt(time)) alive.push_back(&block);
  }
  return alive;
}

Balance BalanceAt(const Trace& trace, std::size_t device, const Moment& moment) {
  Balance balance;
  balance.device = static_cast<std::uint8_t>(device);
  balance.moment = moment;
  balance.total = trace.devices[device].total_bytes;
  if (moment.figures.sample_time != 0) balance.used = moment.figures.used_bytes;
  const std::vector<const Block*> alive = AliveAt(trace, device, moment.time);
  Rows rows(trace);
  for (const Block* block : alive) {
    if (!IsSegment(*block)) {
      rows.AddLive(*block);
    } else if ((block->flags & format::kUnmapped) != 0) {
      rows.At(block->heap).idle += block->block_bytes;
    }
  }
  balance.fragmentation = MeasureSegments(alive);
  for (const auto& [heap, figures] : balance.fragmentation) {
    HeapRow& row = rows.At(heap);
    row.holes += figures.holes;
    row.idle += figures.idle;
  }
  AddPools(moment.figures, &rows);
  balance.heaps = rows.Take();
  Sum(&balance);
  return balance;
}

}  // namespace cuheap::analysis
