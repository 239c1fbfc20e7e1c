// A plain reader of trace files for the ledger's tests, written from format.h alone.
#pragma once

#include <cstdint>
#include <cstring>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "allocator/ledger/format.h"

namespace cuheap::testing {

struct Block {
  std::uint64_t address, bytes, birth, free_time, birth_step;
  std::uint32_t site;
  format::Heap heap;
  std::uint8_t device, flags;
};

struct Instant {
  format::InstantKind kind;
  std::uint64_t time, step, requested;
  std::uint8_t device;
  std::uint64_t live[2];
};

// The file's bytes at one time. Chunk and record layout are taken from the header, as any reader
// must.
class FileView {
 public:
  explicit FileView(const std::string& path) {
    std::ifstream in(path, std::ios::binary | std::ios::ate);
    if (!in) return;
    size_ = static_cast<std::uint64_t>(in.tellg());
    words_.resize((size_ + 7) / 8);
    in.seekg(0);
    in.read(reinterpret_cast<char*>(words_.data()), static_cast<std::streamsize>(size_));
    if (valid()) ReadChunks();
  }

  bool valid() const {
    return size_ >= sizeof(format::FileHeader) &&
           std::memcmp(header().magic, format::kMagic, sizeof format::kMagic) == 0;
  }
  const format::FileHeader& header() const {
    return *reinterpret_cast<const format::FileHeader*>(words_.data());
  }
  std::uint64_t size() const { return size_; }
  const std::vector<Block>& blocks() const { return blocks_; }
  // As they lie in the file.
  const std::vector<format::EventRecord>& events() const { return events_; }
  const std::vector<Instant>& instants() const { return instants_; }
  const std::map<std::uint32_t, std::uint64_t>& site_blocks() const { return site_blocks_; }
  // The gauges of the sites, zeros left out.
  const std::map<std::uint32_t, std::uint64_t>& site_live() const { return site_live_; }
  int count(format::ChunkType type) const {
    const auto found = chunk_counts_.find(type);
    return found == chunk_counts_.end() ? 0 : found->second;
  }

  // Numbers of the ticks that were kept, in order.
  std::vector<std::uint64_t> Ticks(format::Signal signal) const {
    const auto found = ticks_.find(signal);
    return found == ticks_.end() ? std::vector<std::uint64_t>() : found->second;
  }
  std::vector<Block> LiveAt(std::uint64_t time) const {
    std::vector<Block> live;
    for (const Block& block : blocks_)
      if (block.birth <= time && (block.free_time == 0 || block.free_time > time))
        live.push_back(block);
    return live;
  }
  std::vector<Block> Live() const { return LiveAt(~std::uint64_t{0} - 1); }
  std::vector<Instant> Of(format::InstantKind kind) const {
    std::vector<Instant> found;
    for (const Instant& instant : instants_)
      if (instant.kind == kind) found.push_back(instant);
    return found;
  }

 private:
  const char* data() const { return reinterpret_cast<const char*>(words_.data()); }

  void ReadChunks() {
    std::uint64_t offset = format::kChunkUnit;
    while (offset + sizeof(format::ChunkHeader) <= size_) {
      const auto& chunk = *reinterpret_cast<const format::ChunkHeader*>(data() + offset);
      if (chunk.magic.load() != format::kChunkMagic) break;
      ReadChunk(chunk, data() + offset + sizeof chunk);
      ++chunk_counts_[chunk.type];
      offset += chunk.bytes;
    }
  }

  void ReadChunk(const format::ChunkHeader& chunk, const char* payload) {
    if (chunk.record_size == 0) return;
    for (std::uint64_t at = 0; at + chunk.record_size <= chunk.committed.load();
         at += chunk.record_size) {
      if (chunk.type == format::ChunkType::kBlock) ReadBlock(payload + at);
      if (chunk.type == format::ChunkType::kInstant) ReadInstant(payload + at);
      if (chunk.type == format::ChunkType::kEvent)
        events_.push_back(*reinterpret_cast<const format::EventRecord*>(payload + at));
      if (chunk.type == format::ChunkType::kTick) {
        const auto& tick = *reinterpret_cast<const format::TickRecord*>(payload + at);
        if (tick.number != 0)
          ticks_[static_cast<format::Signal>(chunk.parameter)].push_back(tick.number);
      }
      if (chunk.type == format::ChunkType::kTotal) {
        const auto& totals = *reinterpret_cast<const format::SiteTotals*>(payload + at);
        site_blocks_[totals.site] = totals.blocks.load();
        if (totals.live_bytes.load() != 0) site_live_[totals.site] = totals.live_bytes.load();
      }
    }
  }

  void ReadBlock(const char* at) {
    const auto& record = *reinterpret_cast<const format::BlockRecord*>(at);
    const format::BlockState state = format::StateOf(record.state.load());
    if (state == format::BlockState::kFree) return;
    blocks_.push_back({record.address, record.block_bytes, record.birth_time,
                       state == format::BlockState::kDead ? record.free_time.load() : 0,
                       record.birth_step, record.site, record.heap, record.device,
                       record.flags.load()});
  }

  void ReadInstant(const char* at) {
    const auto& record = *reinterpret_cast<const format::InstantRecord*>(at);
    if (format::StateOf(record.state.load()) != format::BlockState::kLive) return;
    instants_.push_back({record.kind,
                         record.time,
                         record.step,
                         record.requested_bytes,
                         record.device,
                         {record.devices[0].live_bytes, record.devices[1].live_bytes}});
  }

  std::vector<std::uint64_t> words_;
  std::uint64_t size_ = 0;
  std::vector<Block> blocks_;
  std::vector<format::EventRecord> events_;
  std::vector<Instant> instants_;
  std::map<std::uint32_t, std::uint64_t> site_blocks_, site_live_;
  std::map<format::Signal, std::vector<std::uint64_t>> ticks_;
  std::map<format::ChunkType, int> chunk_counts_;
};

}  // namespace cuheap::testing
