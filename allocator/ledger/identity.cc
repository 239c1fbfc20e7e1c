#include "allocator/ledger/identity.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>

namespace cuheap {
namespace {

template <std::size_t kSize>
void CopyText(char (&to)[kSize], const char* from) {
  std::snprintf(to, kSize, "%s", from);
}

// "python train.py --lr 3": arguments are part of what tells two runs apart, unless they are to be
// kept private.
void WriteProgram(char* program, std::size_t size, bool redact) {
  char text[1024];
  const int descriptor = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return;
  const ssize_t read_bytes = read(descriptor, text, sizeof text - 1);
  close(descriptor);
  if (read_bytes <= 0) return;
  auto length = static_cast<std::size_t>(read_bytes);
  text[length] = '\0';
  const std::size_t first = std::strlen(text);
  if (redact) length = first;
  const char* slash = std::strrchr(text, '/');
  const std::size_t start = slash == nullptr ? 0 : static_cast<std::size_t>(slash + 1 - text);
  while (length > start && text[length - 1] == '\0') --length;
  std::replace(text + start, text + length, '\0', ' ');
  std::snprintf(program, size, "%.*s", static_cast<int>(length - start), text + start);
}

}  // namespace

void WriteIdentity(format::FileHeader& header, const LedgerOptions& options, const SharedFile& file,
                   Clock& clock) {
  const ProcessName process = ThisProcess();
  header.major = format::kMajor;
  header.minor = format::kMinor;
  header.header_bytes = sizeof(format::FileHeader);
  header.byte_order = format::kByteOrder;
  header.chunk_header_bytes = sizeof(format::ChunkHeader);
  CopyText(header.run_id, options.run_id);
  gethostname(header.host, sizeof header.host - 1);
  header.rank = options.rank;
  header.world_size = options.world_size;
  header.pid = process.pid;
  header.exec_count = file.exec_count();
  header.process_start_ticks = process.start_ticks;
  header.wall_start_ns = clock.WallNs();
  header.monotonic_start_ns = clock.MonotonicNs();
  WriteProgram(header.program, sizeof header.program, options.redact_arguments);
  CopyText(header.options, options.options_text);
  CopyText(header.destination, file.destination());
  header.storage = file.storage();
  header.stacks = options.stacks;
  header.clock.store(static_cast<std::uint32_t>(format::Signal::kNone), std::memory_order_relaxed);
  header.used_bytes.store(file.size().count(), std::memory_order_relaxed);
  // Last: a file whose magic is there has its whole header.
  std::uint64_t magic = 0;
  std::memcpy(&magic, format::kMagic, sizeof magic);
  __atomic_store_n(reinterpret_cast<std::uint64_t*>(header.magic), magic, __ATOMIC_RELEASE);
}

}  // namespace cuheap
