// Block records in the file, and what private memory knows about them: which are free, and where an
// address is. A record is in exactly one chain: free, live (by address), or dead (kept for an
// instant, see instants.h). The chains share one array of links, because no record is in two.
//
//   file:     | chunk | record record record ... | chunk | ...       RecordId = offset in the file
//   / 64 private:  links_[RecordId] -> next record of its chain;  buckets_[hash of heap and
//   address] -> newest live record
//
// Threads: the caller serialises. No malloc; growth of the file aside, no syscall.
#pragma once

#include <atomic>
#include <bit>
#include <cstdint>

#include "allocator/base/ids.h"
#include "allocator/base/virtual_range.h"
#include "allocator/ledger/chunks.h"

namespace cuheap {

class BlockTable {
 public:
  constexpr explicit BlockTable(Chunks& chunks) : chunks_(chunks) {}

  [[nodiscard]] bool Start(Bytes limit);

  format::BlockRecord& At(RecordId id) const {
    return *reinterpret_cast<format::BlockRecord*>(
        chunks_.file_data() + std::uint64_t{Value(id)} * sizeof(format::BlockRecord));
  }

  // A record with state kFree, or kNone when the file cannot grow.
  RecordId Take();
  // REQUIRES: in no chain. The record is kFree afterwards.
  void GiveBack(RecordId id);
  bool has_free() const { return free_ != RecordId::kNone; }

  // Fetches what a search for that block begins with. Any thread, no lock.
  void Expect(format::Heap heap, Address address) const {
    __builtin_prefetch(&buckets()[BucketOf(heap, address)], 1);
  }

  // The live records by heap and address.
  void Insert(RecordId id);
  RecordId Find(format::Heap heap, Address address) const;
  // Out of the chain; kNone if it is not there.
  RecordId Remove(format::Heap heap, Address address);

  // Links for a chain of somebody else's.
  RecordId Next(RecordId id) const { return links()[Value(id)]; }
  void SetNext(RecordId id, RecordId next) { links()[Value(id)] = next; }

 private:
  // Linear hashing: there are as many chains as live blocks at the most there ever were, and each
  // birth that makes one more splits one chain. So the chains of a small job lie in few pages, and
  // no event pays for more than a chain.
  static constexpr std::uint32_t kFirstBuckets = 1u << 10;  // a page
  static constexpr std::uint32_t kMostBuckets = 1u << 20;

  static std::uint32_t BucketOf(std::uint32_t bucket_count, format::Heap heap, Address address) {
    // Fibonacci hashing; the heap is mixed in because a segment and its first block share an
    // address.
    const std::uint64_t key = (Value(address) >> 4) ^ (static_cast<std::uint64_t>(heap) << 56);
    const auto hash = static_cast<std::uint32_t>((key * 0x9e3779b97f4a7c15u) >> 32);
    const std::uint32_t mask = (std::uint32_t{2} << (std::bit_width(bucket_count - 1) - 1)) - 1;
    const std::uint32_t bucket = hash & mask;
    return bucket < bucket_count ? bucket : hash & (mask >> 1);
  }
  std::uint32_t BucketOf(format::Heap heap, Address address) const {
    return BucketOf(bucket_count_.load(std::memory_order_relaxed), heap, address);
  }
  void SplitOneBucket();
  RecordId* links() const { return reinterpret_cast<RecordId*>(link_memory_.data()); }
  RecordId* buckets() const { return reinterpret_cast<RecordId*>(bucket_memory_.data()); }
  bool AddChunk();

  Chunks& chunks_;
  RecordId free_ = RecordId::kNone;
  RecordId fresh_ = RecordId::kNone;      // records of the newest chunk that were never used ...
  RecordId fresh_end_ = RecordId::kNone;  // ... up to here
  format::ChunkHeader* newest_ = nullptr;
  Bytes next_chunk_ = 64_KiB;
  VirtualRange link_memory_;
  VirtualRange bucket_memory_;
  std::atomic<std::uint32_t> bucket_count_{kFirstBuckets};
  std::uint32_t live_ = 0;
};

}  // namespace cuheap
