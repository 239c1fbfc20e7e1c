// Events in the trace file: what happened, in its order, for replays. Off in mode summary.
//
// Laws: 1. Records are in order of time within a chunk, and a chunk's last one precedes the first
//       one of the chunk that was begun after it.
//       2. Their chunks never take more than Share(mode, limit) of the file, so that the state
//       keeps its room.
//       3. Mode events: when the share is used up, the chunk that was begun first is begun anew;
//       mode full: nothing more is kept. Either way a kGap record says how many are lost so far.
// Threads: the caller serialises. No malloc.
#pragma once

#include <array>

#include "allocator/ledger/chunks.h"

namespace cuheap {

class Events {
 public:
  constexpr explicit Events(Chunks& chunks) : chunks_(chunks) {}

  // A quarter of the limit for the ring, three quarters for all that fits.
  static Bytes Share(format::Mode mode, Bytes limit);

  // Once, before the first event.
  void Start(format::Mode mode, Bytes limit);
  bool on() const { return mode_ != format::Mode::kSummary; }
  // REQUIRES: on(); times rise.
  void Add(const format::EventRecord& event);

 private:
  static constexpr std::uint32_t kMostChunks = 16;  // of the ring

  bool BeginChunk();
  bool Append();
  void Reuse();
  void Put(const format::EventRecord& event);
  void Lose(std::uint64_t time);

  Chunks& chunks_;
  format::Mode mode_ = format::Mode::kSummary;
  Bytes chunk_bytes_;  // of one, with its header
  Bytes left_;         // of the share
  std::array<format::ChunkHeader*, kMostChunks> ring_{};
  std::uint32_t begun_ = 0;  // chunks of the ring
  std::uint32_t next_ = 0;   // the one of the ring that was begun first
  format::ChunkHeader* newest_ = nullptr;
  format::EventRecord* last_gap_ = nullptr;  // mode full: the last record there will be
};

}  // namespace cuheap
