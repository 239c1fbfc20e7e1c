#include "tools/trace/reader.h"

#include <algorithm>
#include <cstring>

#include "tools/trace/chunks.h"
#include "tools/trace/header.h"
#include "tools/trace/locate.h"
#include "tools/trace/mapped_file.h"
#include "tools/trace/process.h"

namespace cuheap::trace {
namespace {

constexpr auto kRelaxed = std::memory_order_relaxed;
constexpr int kAttempts = 8;  // a record that changes this often is being reused in a storm

enum class Copied { kYes, kNothingThere, kTorn };

// Copies one record under the protocol of law 2. `copy` reads the fields.
template <typename Record, typename Copy>
Copied CopyStable(const Record& record, Copy copy) {
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    const std::uint32_t before = record.state.load(std::memory_order_acquire);
    if (format::StateOf(before) == format::BlockState::kFree) return Copied::kNothingThere;
    copy(format::StateOf(before));
    std::atomic_thread_fence(std::memory_order_acquire);
    if (record.state.load(kRelaxed) == before) return Copied::kYes;
  }
  return Copied::kTorn;
}

class Reader {
 public:
  // `file`, if the bytes come from one, learns what is not needed again.
  Reader(const MappedFile* file, Trace* trace) : file_(file), trace_(*trace) {}

  void Read(const ChunkList& list) {
    // Names are written before what refers to them, so they are read after it.
    for (const Chunk& chunk : list.chunks)
      chunk.type == format::ChunkType::kEvent ? ReadEvents(chunk) : ReadRecords(chunk);
    for (const Chunk& chunk : list.chunks) {
      if (chunk.type == format::ChunkType::kDictionary) damaged_ += trace_.dictionary.Add(chunk);
    }
    Finish();
  }

 private:
  void ReadRecords(const Chunk& chunk) {
    for (std::size_t i = 0; i < chunk.record_count(); ++i) {
      const std::byte* record = chunk.record(i);
      switch (chunk.type) {
        case format::ChunkType::kBlock:
          ReadBlock(*reinterpret_cast<const format::BlockRecord*>(record));
          break;
        case format::ChunkType::kInstant:
          ReadInstant(*reinterpret_cast<const format::InstantRecord*>(record));
          break;
        case format::ChunkType::kTotal:
          ReadTotals(*reinterpret_cast<const format::SiteTotals*>(record));
          break;
        case format::ChunkType::kTick:
          ReadTick(chunk.parameter, record);
          break;
        case format::ChunkType::kMark:
          ReadMark(record);
          break;
        case format::ChunkType::kDictionary:
        case format::ChunkType::kEvent:
          break;
      }
    }
    if (chunk.type == format::ChunkType::kBlock && file_ != nullptr) file_->Forget(chunk.payload);
  }

  // A chunk that was begun anew meanwhile may hold something of both turns: nothing of it is taken.
  void ReadEvents(const Chunk& chunk) {
    const std::size_t before = trace_.events.size();
    for (std::size_t i = 0; i < chunk.record_count(); ++i) ReadEvent(chunk.record(i));
    std::atomic_thread_fence(std::memory_order_acquire);
    if (__atomic_load_n(&chunk.header->parameter, __ATOMIC_RELAXED) != chunk.parameter) {
      trace_.events.resize(before);
      trace_.completeness.torn_records += chunk.record_count();
    }
    if (file_ != nullptr) file_->Forget(chunk.payload);
  }

  void ReadEvent(const std::byte* bytes) {
    format::EventRecord record;
    std::memcpy(&record, bytes, sizeof record);
    if (record.kind < format::EventKind::kAllocation || record.kind > format::EventKind::kGap ||
        record.device >= format::kMaxDevices || record.bytes >> 56 != 0 ||
        record.phase > format::Phase::kOptimizer) {
      ++damaged_;
      return;
    }
    trace_.events.push_back({record.time, record.address, record.bytes, record.stream, record.arena,
                             record.device, record.heap, record.kind, record.phase});
  }

  void ReadBlock(const format::BlockRecord& record) {
    Block block;
    format::BlockState state{};
    const Copied copied = CopyStable(record, [&](format::BlockState seen) {
      state = seen;
      block = {.address = record.address,
               .block_bytes = record.block_bytes,
               .requested_bytes = record.requested_bytes,
               .birth_time = record.birth_time,
               .free_time = record.free_time.load(kRelaxed),
               .site = record.site,
               .birth_step = record.birth_step,
               .arena = record.arena,
               .stream = record.stream,
               .thread = record.thread,
               .device = record.device,
               .heap = record.heap,
               .phase = record.phase,
               .flags = record.flags.load(kRelaxed),
               .segment_heap = static_cast<format::Heap>(record.segment_heap)};
    });
    if (copied == Copied::kTorn) ++trace_.completeness.torn_records;
    if (copied != Copied::kYes) return;
    if (state > format::BlockState::kDead || block.device >= format::kMaxDevices ||
        block.block_bytes >> 56 != 0 || block.phase > format::Phase::kOptimizer) {
      ++damaged_;
      return;
    }
    block.requested_bytes = std::min(block.requested_bytes, block.block_bytes);
    if (state == format::BlockState::kLive) block.free_time = 0;
    if (state == format::BlockState::kDead && block.free_time == 0)
      block.free_time = block.birth_time;
    trace_.blocks.push_back(block);
  }

  void ReadInstant(const format::InstantRecord& record) {
    Instant instant;
    std::uint32_t name = 0;
    const Copied copied = CopyStable(record, [&](format::BlockState) {
      instant.kind = record.kind;
      instant.time = record.time;
      instant.step = record.step;
      name = record.name;
      instant.device = record.device;
      instant.requested_bytes = record.requested_bytes;
      std::memcpy(instant.devices.data(), record.devices, sizeof(record.devices));
    });
    if (copied == Copied::kTorn) ++trace_.completeness.torn_records;
    if (copied != Copied::kYes) return;
    if (instant.kind < format::InstantKind::kStepEnd || instant.kind > format::InstantKind::kExit) {
      ++damaged_;
      return;
    }
    trace_.instants.push_back(std::move(instant));
    instant_names_.push_back(name);
  }

  void ReadTotals(const format::SiteTotals& record) {
    if (record.site == 0) return;
    Totals& totals = totals_.emplace_back(record.site, Totals{}).second;
    totals.blocks = record.blocks.load(kRelaxed);
    totals.bytes = record.bytes.load(kRelaxed);
    totals.freed_blocks = record.freed_blocks.load(kRelaxed);
    totals.last_free_time = record.last_free_time.load(kRelaxed);
    totals.last_birth_time = record.last_birth_time.load(kRelaxed);
    totals.live_bytes = record.live_bytes.load(kRelaxed);
    totals.peak_bytes = record.peak_bytes.load(kRelaxed);
    for (std::size_t i = 0; i < totals.steps_lived.size(); ++i)
      totals.steps_lived[i] = record.steps_lived[i].load(kRelaxed);
    for (std::size_t i = 0; i < totals.microseconds_lived.size(); ++i) {
      totals.microseconds_lived[i] = record.microseconds_lived[i].load(kRelaxed);
    }
  }

  void ReadTick(std::uint32_t signal, const std::byte* record) {
    format::TickRecord tick;
    std::memcpy(&tick, record, sizeof(tick));
    if (signal < trace_.ticks.size() && tick.number != 0) trace_.ticks[signal].push_back(tick);
  }

  void ReadMark(const std::byte* bytes) {
    format::MarkRecord record;
    std::memcpy(&record, bytes, sizeof(record));
    if (record.kind < format::MarkKind::kUser || record.kind > format::MarkKind::kPythonChecked)
      return;
    trace_.marks.push_back(
        {record.time, record.step, record.value, "", record.kind, record.device});
    mark_names_.push_back(record.name);
  }

  void Finish() {
    for (std::size_t i = 0; i < instant_names_.size(); ++i) {
      trace_.instants[i].name = trace_.dictionary.string(instant_names_[i]);
    }
    for (std::size_t i = 0; i < mark_names_.size(); ++i)
      trace_.marks[i].name = trace_.dictionary.string(mark_names_[i]);
    std::stable_sort(trace_.instants.begin(), trace_.instants.end(),
                     [](const Instant& a, const Instant& b) { return a.time < b.time; });
    std::stable_sort(trace_.events.begin(), trace_.events.end(),
                     [](const Event& a, const Event& b) { return a.time < b.time; });
    for (auto& ticks : trace_.ticks) {
      const auto by_number = [](const format::TickRecord& a, const format::TickRecord& b) {
        return a.number < b.number;
      };
      const auto same = [](const format::TickRecord& a, const format::TickRecord& b) {
        return a.number == b.number;
      };
      std::sort(ticks.begin(), ticks.end(), by_number);
      ticks.erase(std::unique(ticks.begin(), ticks.end(), same), ticks.end());
    }
    for (Block& block : trace_.blocks) {
      if (block.site > trace_.dictionary.site_count()) block.site = 0;
    }
    trace_.totals.resize(trace_.dictionary.site_count() + 1);
    for (const auto& [site, totals] : totals_) {
      if (site < trace_.totals.size()) trace_.totals[site] = totals;
    }
    trace_.completeness.damaged_records = damaged_;
  }

  const MappedFile* file_;
  Trace& trace_;
  std::vector<std::pair<std::uint32_t, Totals>>
      totals_;  // by site; placed once the number of sites is known
  std::vector<std::uint32_t> instant_names_;
  std::vector<std::uint32_t> mark_names_;
  std::uint64_t damaged_ = 0;
};

// Steps of the file are counted through changes of the clock. A stronger signal restarts warm-up,
// so what its predecessor counted (the byte clock while a model loads) is all "before the first
// step" to whoever reads.
void CountFromPresentClock(Trace* trace) {
  const std::uint64_t since = std::min(trace->clock_since_step, trace->steps);
  const auto shift = [since](auto step) {
    return step > since ? static_cast<decltype(step)>(step - since) : 0;
  };
  trace->steps = shift(trace->steps);
  for (Block& block : trace->blocks) block.birth_step = shift(block.birth_step);
  for (Instant& instant : trace->instants) instant.step = shift(instant.step);
  for (Mark& mark : trace->marks) mark.step = shift(mark.step);
}

bool WriterRuns(const Identity& identity) {
  // Only the host's name tells machines apart; a container that shares the name but not the
  // processes says "not running".
  return identity.host == HostName().substr(0, sizeof(format::FileHeader::host) - 1) &&
         IsRunning(identity.pid, identity.process_start_ticks);
}

Result<Trace> Parse(std::span<const std::byte> bytes, const MappedFile* file,
                    const std::string& name) {
  const Result<const format::FileHeader*> header = CheckHeader(bytes, name);
  if (!header.ok()) return header.error();
  Trace trace;
  trace.path = name;
  trace.file_bytes = bytes.size();
  const std::uint64_t used_bytes = (*header)->used_bytes.load(std::memory_order_acquire);
  trace.completeness.expected_bytes = used_bytes;
  const Result<ChunkList> list = ListChunks(bytes, used_bytes);
  if (!list.ok()) return Error{list.error().kind, name + ": " + list.error().message};
  Reader(file, &trace).Read(*list);
  // The header is copied last: its figures are then at least as new as the records.
  CopyHeader(**header, &trace);
  CountFromPresentClock(&trace);
  trace.completeness.cut = list->cut;
  trace.completeness.cut_at = list->cut_at;
  trace.completeness.unknown_chunks = list->unknown;
  return trace;
}

}  // namespace

Result<Trace> ReadTrace(const std::string& name) {
  const Result<Location> location = Locate(name);
  if (!location.ok()) return location.error();
  const Result<MappedFile> file = MappedFile::Open(location->path);
  if (!file.ok()) return file.error();
  Result<Trace> trace = Parse(file->bytes(), &*file, name);
  if (!trace.ok()) return trace;
  Completeness& state = trace->completeness;
  if (location->checkpoint) state.instead = location->path;
  state.running = !state.clean_close && !location->checkpoint && WriterRuns(trace->identity);
  return trace;
}

Result<Trace> ParseTrace(std::span<const std::byte> bytes, const std::string& name) {
  return Parse(bytes, nullptr, name);
}

Result<Trace> ReadTraceHeader(const std::string& path) {
  const Result<MappedFile> file = MappedFile::Open(path);
  if (!file.ok()) return file.error();
  const Result<const format::FileHeader*> header = CheckHeader(file->bytes(), path);
  if (!header.ok()) return header.error();
  Trace trace;
  trace.path = path;
  trace.file_bytes = file->bytes().size();
  trace.completeness.expected_bytes = (*header)->used_bytes.load(std::memory_order_acquire);
  CopyHeader(**header, &trace);
  trace.completeness.running = WriterRuns(trace.identity);
  return trace;
}

}  // namespace cuheap::trace
