// The kept instants, and the dead records that they need.
//
// A dead record (birth b, free f) is needed by every kept instant t with b <= t < f. It waits in
// the list of the latest such instant. When an instant goes, its list is spliced onto one queue of
// homeless records, in constant time; the queue is worked off a few records an event: each goes to
// the next older instant that needs it, or is free for reuse.
//
// Laws
//   1. A record is given back only when no kept instant needs it.
//   2. Every call does bounded work: at most kSlots steps, and kSweep records; a peak that moves
//   costs a few steps.
//   3. An instant that replaces another is in the file before the other goes.
//   4. The newest step end is always kept, and the first one. Of the others the one whose removal
//   leaves the smallest gap in steps goes.
// Threads: the caller serialises.
#pragma once

#include <algorithm>
#include <cstdint>

#include "allocator/ledger/block_table.h"

namespace cuheap {

class Instants {
 public:
  static constexpr int kSeries = 48;  // step ends
  static constexpr int kMarks = 32;   // instants named by the program
  static constexpr int kSlots = 128;  // all of them, with peaks, OOMs and the exit
  static constexpr int kSweep = 4;    // records an event finds a home for

  constexpr Instants(Chunks& chunks, BlockTable& blocks) : chunks_(chunks), blocks_(blocks) {}

  [[nodiscard]] bool Start(Bytes limit);

  struct What {
    format::InstantKind kind;
    std::uint8_t device = 255;
    std::uint32_t name = 0;
    Bytes requested;
  };
  // Keeps the present (time, step). Figures of the devices are copied from the header. A peak
  // replaces the peak of its device, a last OOM the one before; a step end joins the series. False
  // when there is no room (marks).
  bool Keep(const What& what, Nanoseconds now, std::uint64_t step);

  // Figures of this device are copied from now on.
  void SawDevice(std::uint8_t device) { devices_ = std::max(devices_, device + 1); }
  // A block born at `birth_time` that still lives turned out to be a segment: it was live at no
  // kept instant.
  void NeverLived(std::uint64_t birth_time, std::uint8_t device, Bytes bytes);
  // Gives up one step end, because records are wanted badly. False when only first and newest are
  // left.
  bool ThinForRoom();

  // The record has just died (free_time is set). Keeps or gives back.
  void Bury(RecordId id);
  // Finds homes for a few homeless records; for more when a free record is wanted badly.
  void Sweep(int records = kSweep);
  bool has_homeless() const { return homeless_.first != RecordId::kNone; }

 private:
  struct List {
    RecordId first = RecordId::kNone;
    RecordId last = RecordId::kNone;
    std::uint32_t count = 0;
  };
  struct Slot {
    std::uint64_t time = 0;
    std::uint64_t step = 0;
    List dead;
  };

  format::InstantRecord& Record(int slot) const;
  std::uint8_t* PlaceOf(const What& what);
  void Write(int slot, const What& what, std::uint64_t step);
  void JoinOrder(int slot);
  void LeaveOrder(int slot);
  void Drop(int slot);
  void ThinSeries();
  void DropCheapestOfSeries();
  int CheapestOfSeries() const;
  void Push(List& list, RecordId id);
  void SendHome(RecordId id);

  Chunks& chunks_;
  BlockTable& blocks_;
  format::InstantRecord* records_ = nullptr;
  Slot slots_[kSlots] = {};
  std::uint8_t free_slots_[kSlots] = {};
  int free_count_ = 0;
  std::uint8_t order_[kSlots] = {};  // slots in use, oldest first
  int order_count_ = 0;
  std::uint8_t series_[kSeries + 1] = {};  // step ends, oldest first
  int series_count_ = 0;
  std::uint8_t peaks_[format::kMaxDevices] = {};  // slot + 1; 0 = none yet
  std::uint8_t last_oom_ = 0;                     // the same
  int devices_ = 0;
  int marks_ = 0;
  std::uint32_t dead_ = 0;
  std::uint32_t dead_budget_ = 0;
  List homeless_;
};

}  // namespace cuheap
