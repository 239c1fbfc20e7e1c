#include "allocator/capture/stack_memo.h"

#include <algorithm>

#include "allocator/capture/memory_probe.h"
#include "allocator/capture/stack_range.h"

namespace cuheap::capture {
namespace {

constexpr auto kRelaxed = std::memory_order_relaxed;

}  // namespace

bool StackMemo::Start() {
  const Bytes bytes(kEntries * sizeof(Entry));
  if (!range_.Reserve(bytes) || !range_.CommitUpTo(bytes)) return false;
  entries_ = reinterpret_cast<Entry*>(range_.data());
  return true;
}

std::uint64_t StackMemo::SetOf(const StackPlace& place, std::uint64_t salt) {
  constexpr std::uint64_t kOdd = 0x9e3779b97f4a7c15u;
  return ((place.sp ^ salt << 7) * kOdd >> 40) % kSets;
}

[[gnu::hot]] std::uint64_t StackMemo::Find(const StackPlace& place, std::uint64_t salt) const {
  if (entries_ == nullptr) return 0;
  for (const Number& number : sets_[SetOf(place, salt)]) {
    const std::uint16_t id = number.load(std::memory_order_acquire);
    if (id == 0) return 0;
    const Entry& entry = entries_[id - 1];
    const std::uint32_t version = entry.version.load(std::memory_order_acquire);
    if (version % 2 != 0 || !Holds(entry, place, salt)) continue;
    const std::uint64_t value = entry.value.load(kRelaxed);
    std::atomic_thread_fence(std::memory_order_acquire);
    if (entry.version.load(kRelaxed) == version) return value;
  }
  return 0;
}

bool StackMemo::Holds(const Entry& entry, const StackPlace& place, std::uint64_t salt) {
  if (entry.sp.load(kRelaxed) != place.sp || entry.salt.load(kRelaxed) != salt) return false;
  const std::uint64_t pc = entry.pc_and_needs.load(kRelaxed);
  if ((pc & ~(kNeedsRbp | kNeedsRbx)) != place.pc) return false;
  if ((pc & kNeedsRbp) != 0 && entry.rbp.load(kRelaxed) != place.rbp) return false;
  if ((pc & kNeedsRbx) != 0 && entry.rbx.load(kRelaxed) != place.rbx) return false;
  return SameWords(entry, place.sp);
}

[[gnu::hot]] bool StackMemo::SameWords(const Entry& entry, std::uint64_t sp) {
  const int count = entry.count.load(kRelaxed);
  const std::uint64_t highest = entry.highest.load(kRelaxed);
  if (count == 0 || count > WalkEvidence::kMostWords) return false;
  if (!StackAround(sp).Holds(sp + highest * WalkEvidence::kWord)) return false;
  for (int i = 0; i < count; ++i) {
    const std::uint64_t place = entry.places[i].load(kRelaxed);
    // An entry that is being written anew may hold anything.
    if (place > highest) return false;
    if (Load<std::uint64_t>(sp + place * WalkEvidence::kWord) != entry.words[i].load(kRelaxed))
      return false;
  }
  return true;
}

// A set fills up before one of its own makes room. There are as many entries as the sets can hold.
StackMemo::Entry& StackMemo::EntryFor(Number* set) {
  static_assert(kEntries == kSets * kWays);
  Number* const end = set + kWays;
  Number* const place =
      std::find_if(set, end, [](const Number& n) { return n.load(kRelaxed) == 0; });
  if (place == end) return entries_[set[next_way_++ % kWays].load(kRelaxed) - 1];
  place->store(++used_, std::memory_order_release);
  return entries_[used_ - 1];
}

void StackMemo::Keep(const StackPlace& place, std::uint64_t salt, const WalkEvidence& evidence,
                     std::uint64_t value) {
  if (entries_ == nullptr || !evidence.complete || evidence.count == 0) return;
  Entry& entry = EntryFor(sets_[SetOf(place, salt)]);
  const std::uint32_t version = entry.version.load(kRelaxed);
  entry.version.store(version + 1, kRelaxed);
  // What is written next must not become visible before it.
  std::atomic_thread_fence(std::memory_order_release);
  entry.pc_and_needs.store(
      place.pc | (evidence.needs_rbp ? kNeedsRbp : 0) | (evidence.needs_rbx ? kNeedsRbx : 0),
      kRelaxed);
  entry.sp.store(place.sp, kRelaxed);
  entry.rbp.store(place.rbp, kRelaxed);
  entry.rbx.store(place.rbx, kRelaxed);
  entry.salt.store(salt, kRelaxed);
  entry.value.store(value, kRelaxed);
  entry.highest.store(evidence.highest, kRelaxed);
  for (int i = 0; i < evidence.count; ++i) {
    entry.words[i].store(evidence.words[i], kRelaxed);
    entry.places[i].store(evidence.places[i], kRelaxed);
  }
  entry.count.store(static_cast<std::uint16_t>(evidence.count), kRelaxed);
  entry.version.store(version + 2, std::memory_order_release);
}

void StackMemo::Forget() {
  for (std::uint64_t i = 0; entries_ != nullptr && i < kSets * kWays; ++i)
    if (entries_[i].count.load(kRelaxed) != 0) entries_[i].count.store(0, kRelaxed);
}

}  // namespace cuheap::capture
