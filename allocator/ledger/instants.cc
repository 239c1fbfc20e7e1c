#include "allocator/ledger/instants.h"

#include <atomic>
#include <new>

namespace cuheap {
namespace {

using format::BlockRecord;
using format::BlockState;
using format::InstantKind;
using format::InstantRecord;

constexpr std::uint32_t kSmallestBudget = 32768;
constexpr int kSmallestSeries = 8;

}  // namespace

bool Instants::Start(Bytes limit) {
  format::ChunkHeader* chunk = chunks_.Append(format::ChunkType::kInstant, sizeof(InstantRecord),
                                              Bytes(kSlots * sizeof(InstantRecord)));
  if (chunk == nullptr) return false;
  records_ = reinterpret_cast<InstantRecord*>(Chunks::Payload(chunk));
  for (int i = 0; i < kSlots; ++i) {
    new (&records_[i]) InstantRecord();
    free_slots_[i] = static_cast<std::uint8_t>(kSlots - 1 - i);
  }
  free_count_ = kSlots;
  chunk->committed.store(kSlots * sizeof(InstantRecord), std::memory_order_release);
  // Each instant pins at most what lived then; half of the file is the most that the dead may take
  // of it.
  dead_budget_ = std::max(kSmallestBudget,
                          static_cast<std::uint32_t>(limit.count() / 2 / sizeof(BlockRecord)));
  return true;
}

InstantRecord& Instants::Record(int slot) const { return records_[slot]; }

// Where it is remembered which slot a new instant of this kind replaces.
std::uint8_t* Instants::PlaceOf(const What& what) {
  if (what.kind == InstantKind::kPeak) return &peaks_[what.device];
  return what.kind == InstantKind::kLastOom ? &last_oom_ : nullptr;
}

bool Instants::Keep(const What& what, Nanoseconds now, std::uint64_t step) {
  if (free_count_ == 0 || (what.kind == InstantKind::kMark && marks_ == kMarks)) return false;
  const int slot = free_slots_[--free_count_];
  slots_[slot] = {Value(now), step, {}};
  JoinOrder(slot);
  Write(slot, what, step);
  if (std::uint8_t* place = PlaceOf(what); place != nullptr) {
    if (*place != 0) Drop(*place - 1);
    *place = static_cast<std::uint8_t>(slot + 1);
  }
  if (what.kind == InstantKind::kMark) ++marks_;
  if (what.kind == InstantKind::kStepEnd) {
    series_[series_count_++] = static_cast<std::uint8_t>(slot);
    ThinSeries();
  }
  return true;
}

void Instants::Write(int slot, const What& what, std::uint64_t step) {
  InstantRecord& record = Record(slot);
  const std::uint32_t generation = (record.state.load(std::memory_order_relaxed) >> 8) + 1;
  record.state.store(format::StateWord(BlockState::kFree, generation), std::memory_order_relaxed);
  // What is written next must not become visible before it.
  std::atomic_thread_fence(std::memory_order_release);
  record.time = slots_[slot].time;
  record.step = step;
  record.name = what.name;
  record.kind = what.kind;
  record.device = what.device;
  record.requested_bytes = what.requested.count();
  const format::FileHeader* header = chunks_.header();
  for (int i = 0; i < devices_; ++i) {
    const format::DeviceHeader& device = header->devices[i];
    format::DeviceFigures& figures = record.devices[i];
    figures.live_bytes = device.live_bytes.load(std::memory_order_relaxed);
    figures.sample_time = device.last_sample_time.load(std::memory_order_relaxed);
    if (figures.sample_time == 0) continue;
    figures.used_bytes = device.used_bytes.load(std::memory_order_relaxed);
    figures.pool_reserved_bytes = device.pool_reserved_bytes.load(std::memory_order_relaxed);
    figures.pool_used_bytes = device.pool_used_bytes.load(std::memory_order_relaxed);
  }
  record.state.store(format::StateWord(BlockState::kLive, generation), std::memory_order_release);
}

// Times are handed out rising, so a new instant is the latest.
void Instants::JoinOrder(int slot) { order_[order_count_++] = static_cast<std::uint8_t>(slot); }

void Instants::LeaveOrder(int slot) {
  // From the newest: a moving peak is among the last.
  std::uint8_t* end = order_ + order_count_;
  std::uint8_t* place = end - 1;
  while (*place != slot) --place;
  std::copy(place + 1, end, place);
  --order_count_;
  List& dead = slots_[slot].dead;
  if (dead.first == RecordId::kNone) return;
  if (homeless_.first == RecordId::kNone) {
    homeless_ = dead;
  } else {
    blocks_.SetNext(homeless_.last, dead.first);
    homeless_.last = dead.last;
    homeless_.count += dead.count;
  }
  dead = List();
}

void Instants::Drop(int slot) {
  LeaveOrder(slot);
  InstantRecord& record = Record(slot);
  const std::uint32_t generation = record.state.load(std::memory_order_relaxed) >> 8;
  record.state.store(format::StateWord(BlockState::kFree, generation), std::memory_order_release);
  slots_[slot] = Slot();
  free_slots_[free_count_++] = static_cast<std::uint8_t>(slot);
}

int Instants::CheapestOfSeries() const {
  int cheapest = 1;
  std::uint64_t smallest = ~std::uint64_t{0};
  for (int i = 1; i + 1 < series_count_; ++i) {
    const std::uint64_t gap = slots_[series_[i + 1]].step - slots_[series_[i - 1]].step;
    if (gap < smallest) {
      smallest = gap;
      cheapest = i;
    }
  }
  return cheapest;
}

void Instants::DropCheapestOfSeries() {
  const int index = CheapestOfSeries();
  const int slot = series_[index];
  std::copy(series_ + index + 1, series_ + series_count_, series_ + index);
  --series_count_;
  Drop(slot);
}

void Instants::ThinSeries() {
  if (series_count_ > kSeries) DropCheapestOfSeries();
  // One a step: the sweep shows first what that one gave back.
  if (dead_ > dead_budget_ && series_count_ > kSmallestSeries && !has_homeless())
    DropCheapestOfSeries();
}

bool Instants::ThinForRoom() {
  if (series_count_ <= 2) return false;
  DropCheapestOfSeries();
  return true;
}

void Instants::NeverLived(std::uint64_t birth_time, std::uint8_t device, Bytes bytes) {
  for (int i = order_count_ - 1; i >= 0 && slots_[order_[i]].time >= birth_time; --i) {
    std::atomic_ref<std::uint64_t> live(Record(order_[i]).devices[device].live_bytes);
    live.store(live.load(std::memory_order_relaxed) - bytes.count(), std::memory_order_relaxed);
  }
}

void Instants::Push(List& list, RecordId id) {
  blocks_.SetNext(id, RecordId::kNone);
  if (list.first == RecordId::kNone) {
    list.first = id;
  } else {
    blocks_.SetNext(list.last, id);
  }
  list.last = id;
  ++list.count;
}

// To the latest instant before its free that it was born for, or back to the free ones.
void Instants::SendHome(RecordId id) {
  const BlockRecord& record = blocks_.At(id);
  if (format::StateOf(record.state.load(std::memory_order_relaxed)) == BlockState::kDead) {
    const std::uint64_t free_time = record.free_time.load(std::memory_order_relaxed);
    const std::uint8_t* after =
        std::partition_point(order_, order_ + order_count_,
                             [&](std::uint8_t slot) { return slots_[slot].time < free_time; });
    if (after != order_ && record.birth_time <= slots_[after[-1]].time) {
      Push(slots_[after[-1]].dead, id);
      return;
    }
  }
  --dead_;
  blocks_.GiveBack(id);
}

// Every instant is earlier than this death, so the newest is the only one to ask.
[[gnu::hot]] void Instants::Bury(RecordId id) {
  if (order_count_ != 0) {
    Slot& newest = slots_[order_[order_count_ - 1]];
    if (blocks_.At(id).birth_time <= newest.time) {
      ++dead_;
      Push(newest.dead, id);
      return;
    }
  }
  blocks_.GiveBack(id);
}

[[gnu::hot]] void Instants::Sweep(int records) {
  for (int i = 0; i < records && homeless_.first != RecordId::kNone; ++i) {
    const RecordId id = homeless_.first;
    homeless_.first = blocks_.Next(id);
    if (homeless_.first == RecordId::kNone) homeless_.last = RecordId::kNone;
    --homeless_.count;
    SendHome(id);
  }
}

}  // namespace cuheap
