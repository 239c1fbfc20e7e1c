#include "tools/trace/home.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <vector>

#include "tools/trace/chunks.h"
#include "tools/trace/header.h"
#include "tools/trace/locate.h"
#include "tools/trace/mapped_file.h"
#include "tools/trace/reader.h"

namespace cuheap::trace {
namespace {

namespace fs = std::filesystem;

class OutputFile {
 public:
  explicit OutputFile(std::string path) : path_(std::move(path)) {
    descriptor_ = open(path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
    good_ = descriptor_ >= 0;
  }
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;
  ~OutputFile() {
    if (descriptor_ >= 0) close(descriptor_);
  }

  void Write(std::span<const std::byte> bytes) {
    while (good_ && !bytes.empty()) {
      const ssize_t written = write(descriptor_, bytes.data(), bytes.size());
      if (written < 0 && errno == EINTR) continue;
      good_ = written > 0;
      if (good_) bytes = bytes.subspan(static_cast<std::size_t>(written));
    }
  }
  bool MoveTo(const std::string& destination) {
    return good_ && rename(path_.c_str(), destination.c_str()) == 0;
  }
  Error Fail(const std::string& destination) {
    const std::string reason = std::strerror(errno);
    unlink(path_.c_str());
    return {ErrorKind::kUnreadable, destination + ": " + reason};
  }

 private:
  std::string path_;
  int descriptor_ = -1;
  bool good_ = false;
};

// Copies records one by one; one whose state word changes under the copy is written as free.
template <typename Record>
void CopyRecords(const Chunk& chunk, std::byte* out) {
  for (std::size_t i = 0; i < chunk.record_count(); ++i, out += chunk.record_size) {
    const auto& record = *reinterpret_cast<const Record*>(chunk.record(i));
    const std::uint32_t before = record.state.load(std::memory_order_acquire);
    std::memcpy(out, chunk.record(i), chunk.record_size);
    std::atomic_thread_fence(std::memory_order_acquire);
    const std::uint32_t after = record.state.load(std::memory_order_relaxed);
    const std::uint32_t kept =
        before == after ? before : format::StateWord(format::BlockState::kFree, 0);
    std::memcpy(out + offsetof(Record, state), &kept, sizeof(kept));
  }
}

std::vector<std::byte> CopyChunk(std::span<const std::byte> file, const Chunk& chunk) {
  const std::span<const std::byte> whole =
      file.subspan(chunk.offset, std::min(chunk.bytes, file.size() - chunk.offset));
  std::vector<std::byte> copy(whole.begin(), whole.end());
  std::byte* payload = copy.data() + sizeof(format::ChunkHeader);
  if (chunk.type == format::ChunkType::kBlock) CopyRecords<format::BlockRecord>(chunk, payload);
  if (chunk.type == format::ChunkType::kInstant) CopyRecords<format::InstantRecord>(chunk, payload);
  return copy;
}

bool SameProcess(const Identity& a, const Identity& b) {
  return a.pid == b.pid && a.process_start_ticks == b.process_start_ticks &&
         a.exec_count == b.exec_count && a.monotonic_start_ns == b.monotonic_start_ns &&
         a.host == b.host;
}

enum class Place { kFree, kAlreadyThere, kTaken };

// What stands at a destination: nothing or our own link, a copy that the process made just before
// it died, or another's file.
Place PlaceAt(const std::string& destination, const std::string& shared_file,
              const Identity& identity) {
  std::error_code error;
  const fs::file_status status = fs::symlink_status(destination, error);
  if (!fs::exists(status)) return Place::kFree;
  if (fs::is_symlink(status)) {
    return fs::read_symlink(destination, error) == fs::path(shared_file) ? Place::kFree
                                                                         : Place::kTaken;
  }
  const Result<Trace> there = ReadTraceHeader(destination);
  return there.ok() && SameProcess(there->identity, identity) ? Place::kAlreadyThere
                                                              : Place::kTaken;
}

}  // namespace

Result<std::uint64_t> CopyTrace(const std::string& source, const std::string& destination) {
  const Result<MappedFile> file = MappedFile::Open(source);
  if (!file.ok()) return file.error();
  const std::span<const std::byte> bytes = file->bytes();
  const Result<const format::FileHeader*> header = CheckHeader(bytes, source);
  if (!header.ok()) return header.error();
  const Result<ChunkList> list =
      ListChunks(bytes, (*header)->used_bytes.load(std::memory_order_acquire));
  if (!list.ok()) return list.error();
  std::error_code error;
  fs::create_directories(fs::path(destination).parent_path(), error);
  OutputFile out(fmt::format("{}.{}.tmp", destination, getpid()));
  std::vector<std::byte> page(bytes.begin(), bytes.begin() + format::kChunkUnit);
  std::uint64_t end = format::kChunkUnit;
  for (const Chunk& chunk : list->chunks) end = std::max(end, chunk.offset + chunk.bytes);
  // The header's size becomes that of the copy, so that a file which grew meanwhile is not taken
  // for a cut one.
  std::memcpy(page.data() + offsetof(format::FileHeader, used_bytes), &end, sizeof(end));
  out.Write(page);
  std::uint64_t offset = format::kChunkUnit;
  for (const Chunk& chunk : list->chunks) {
    out.Write(bytes.subspan(offset, chunk.offset - offset));  // chunks of unknown types between
    out.Write(CopyChunk(bytes, chunk));
    offset = chunk.offset + chunk.bytes;
  }
  if (!out.MoveTo(destination)) return out.Fail(destination);
  return end;
}

std::string NameForProcess(const std::string& destination, const Identity& identity) {
  const fs::path path(destination);
  const std::string name = fmt::format("{}.{}-{}{}", path.stem().string(), identity.pid,
                                       identity.process_start_ticks, path.extension().string());
  return (path.parent_path() / name).string();
}

Result<std::string> BringHome(const std::string& shared_file) {
  const Result<Trace> trace = ReadTraceHeader(shared_file);
  if (!trace.ok()) return trace.error();
  std::string destination = trace->identity.destination;
  if (destination.empty() || destination.front() != '/') {
    return Error{ErrorKind::kCorrupt, shared_file + ": its header names no destination"};
  }
  Place place = PlaceAt(destination, shared_file, trace->identity);
  if (place == Place::kTaken) {
    destination = NameForProcess(destination, trace->identity);
    place = PlaceAt(destination, shared_file, trace->identity);
    if (place == Place::kTaken)
      return Error{ErrorKind::kUnreadable, destination + ": the name is taken"};
  }
  if (place == Place::kFree) {
    const Result<std::uint64_t> copied = CopyTrace(shared_file, destination);
    if (!copied.ok()) return copied.error();
  }
  unlink(shared_file.c_str());
  unlink(CheckpointName(destination).c_str());
  return destination;
}

std::uint64_t LastOutOfMemory(const std::string& path) {
  const Result<MappedFile> file = MappedFile::Open(path);
  if (!file.ok()) return 0;
  const Result<const format::FileHeader*> header = CheckHeader(file->bytes(), path);
  if (!header.ok()) return 0;
  const Result<ChunkList> list =
      ListChunks(file->bytes(), (*header)->used_bytes.load(std::memory_order_acquire));
  if (!list.ok()) return 0;
  std::uint64_t last = 0;
  for (const Chunk& chunk : list->chunks) {
    if (chunk.type != format::ChunkType::kInstant) continue;
    for (std::size_t i = 0; i < chunk.record_count(); ++i) {
      const auto& record = *reinterpret_cast<const format::InstantRecord*>(chunk.record(i));
      const bool live = format::StateOf(record.state.load(std::memory_order_acquire)) ==
                        format::BlockState::kLive;
      const bool oom = record.kind == format::InstantKind::kFirstOom ||
                       record.kind == format::InstantKind::kLastOom;
      if (live && oom) last = std::max(last, record.time);
    }
  }
  return last;
}

}  // namespace cuheap::trace
