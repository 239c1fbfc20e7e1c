#include "allocator/ledger/block_table.h"

#include <algorithm>

namespace cuheap {
namespace {

using format::BlockRecord;
using format::BlockState;

// Chunks double up to this: small files stay small, and 100 000 blocks waste less than one of them.
constexpr Bytes kLargestChunk = 512_KiB;

// Zeroed memory must mean "no record": record 0 would be the file header, so 0 stands for none in
// the buckets.
constexpr RecordId kEmptyBucket{0};

}  // namespace

bool BlockTable::Start(Bytes limit) {
  const Bytes links(limit.count() / sizeof(BlockRecord) * sizeof(RecordId));
  return link_memory_.Reserve(links) &&
         bucket_memory_.Reserve(Bytes(kMostBuckets * sizeof(RecordId))) &&
         bucket_memory_.CommitUpTo(Bytes(kFirstBuckets * sizeof(RecordId)));
}

bool BlockTable::AddChunk() {
  format::ChunkHeader* chunk = chunks_.Append(format::ChunkType::kBlock, sizeof(BlockRecord),
                                              next_chunk_ - Bytes(sizeof(format::ChunkHeader)));
  if (chunk == nullptr) return false;
  const auto offset = static_cast<std::uint64_t>(Chunks::Payload(chunk) - chunks_.file_data());
  const auto first = static_cast<std::uint32_t>(offset / sizeof(BlockRecord));
  const auto count =
      static_cast<std::uint32_t>(Chunks::PayloadBytes(chunk).count() / sizeof(BlockRecord));
  if (!link_memory_.CommitUpTo(Bytes(std::uint64_t{first + count} * sizeof(RecordId))))
    return false;
  newest_ = chunk;
  fresh_ = RecordId(first);
  fresh_end_ = RecordId(first + count);
  next_chunk_ = std::min(next_chunk_ + next_chunk_, kLargestChunk);
  return true;
}

[[gnu::hot]] RecordId BlockTable::Take() {
  if (free_ != RecordId::kNone) {
    const RecordId id = free_;
    free_ = Next(id);
    return id;
  }
  if (fresh_ == fresh_end_ && !AddChunk()) return RecordId::kNone;
  const RecordId id = fresh_;
  fresh_ = RecordId(Value(fresh_) + 1);
  // Before the record is published: a record beyond `committed` does not exist for a reader.
  newest_->committed.fetch_add(sizeof(BlockRecord), std::memory_order_release);
  return id;
}

[[gnu::hot]] void BlockTable::GiveBack(RecordId id) {
  BlockRecord& record = At(id);
  const std::uint32_t generation = record.state.load(std::memory_order_relaxed) >> 8;
  record.state.store(format::StateWord(BlockState::kFree, generation), std::memory_order_release);
  SetNext(id, free_);
  free_ = id;
}

[[gnu::hot]] void BlockTable::Insert(RecordId id) {
  const BlockRecord& record = At(id);
  RecordId& bucket = buckets()[BucketOf(record.heap, Address(record.address))];
  SetNext(id, bucket);
  bucket = id;
  if (++live_ > bucket_count_.load(std::memory_order_relaxed)) [[unlikely]]
    SplitOneBucket();
}

// Bucket n takes what belongs to it from the one bucket that has held it so far.
void BlockTable::SplitOneBucket() {
  const std::uint32_t count = bucket_count_.load(std::memory_order_relaxed);
  if (count == kMostBuckets ||
      !bucket_memory_.CommitUpTo(Bytes((std::uint64_t{count} + 1) * sizeof(RecordId))))
    return;
  RecordId* place = &buckets()[count - std::bit_floor(count)];
  while (*place != kEmptyBucket) {
    const RecordId id = *place;
    const BlockRecord& record = At(id);
    if (BucketOf(count + 1, record.heap, Address(record.address)) != count) {
      place = &links()[Value(id)];
      continue;
    }
    *place = Next(id);
    SetNext(id, buckets()[count]);
    buckets()[count] = id;
  }
  bucket_count_.store(count + 1, std::memory_order_relaxed);
}

RecordId BlockTable::Find(format::Heap heap, Address address) const {
  for (RecordId id = buckets()[BucketOf(heap, address)]; id != kEmptyBucket; id = Next(id)) {
    const BlockRecord& record = At(id);
    if (record.address == Value(address) && record.heap == heap) return id;
  }
  return RecordId::kNone;
}

[[gnu::hot]] RecordId BlockTable::Remove(format::Heap heap, Address address) {
  RecordId* place = &buckets()[BucketOf(heap, address)];
  while (*place != kEmptyBucket) {
    const RecordId id = *place;
    const BlockRecord& record = At(id);
    if (record.address == Value(address) && record.heap == heap) {
      *place = Next(id);
      --live_;
      return id;
    }
    place = &links()[Value(id)];
  }
  return RecordId::kNone;
}

}  // namespace cuheap
