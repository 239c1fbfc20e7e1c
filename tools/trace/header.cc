#include "tools/trace/header.h"

#include <fmt/format.h>

#include <cstring>

namespace cuheap::trace {
namespace {

constexpr auto kRelaxed = std::memory_order_relaxed;

template <std::size_t N>
std::string Text(const char (&text)[N]) {
  return std::string(text, strnlen(text, N));
}

Identity CopyIdentity(const format::FileHeader& header) {
  Identity identity;
  identity.run_id = Text(header.run_id);
  identity.host = Text(header.host);
  identity.rank = header.rank;
  identity.world_size = header.world_size;
  identity.pid = header.pid;
  identity.exec_count = header.exec_count;
  identity.process_start_ticks = header.process_start_ticks;
  identity.wall_start_ns = header.wall_start_ns;
  identity.monotonic_start_ns = header.monotonic_start_ns;
  identity.program = Text(header.program);
  identity.options = Text(header.options);
  identity.destination = Text(header.destination);
  identity.storage = header.storage;
  identity.stacks = header.stacks;
  identity.python_version = header.python_version;
  identity.python_frames = header.python_frames.load(kRelaxed);
  return identity;
}

Device CopyDevice(const format::DeviceHeader& header) {
  Device device;
  bool known = false;
  for (const std::uint8_t octet : header.uuid) known = known || octet != 0;
  if (known) {
    for (const std::uint8_t octet : header.uuid) device.uuid += fmt::format("{:02x}", octet);
  }
  device.pci_bus_id = Text(header.pci_bus_id);
  device.total_bytes = header.total_bytes;
  device.peak_live_bytes = header.peak_live_bytes.load(kRelaxed);
  device.peak_time = header.peak_time.load(kRelaxed);
  device.last.sample_time = header.last_sample_time.load(std::memory_order_acquire);
  device.last.used_bytes = header.used_bytes.load(kRelaxed);
  device.last.live_bytes = header.live_bytes.load(kRelaxed);
  device.last.pool_reserved_bytes = header.pool_reserved_bytes.load(kRelaxed);
  device.last.pool_used_bytes = header.pool_used_bytes.load(kRelaxed);
  device.mig = header.mig != 0;
  return device;
}

}  // namespace

Result<const format::FileHeader*> CheckHeader(std::span<const std::byte> file,
                                              const std::string& name) {
  const std::size_t magic_bytes = std::min(file.size(), sizeof(format::kMagic));
  if (std::memcmp(file.data(), format::kMagic, magic_bytes) != 0) {
    return Error{ErrorKind::kForeign, name + ": not a cuheap trace"};
  }
  if (file.size() < format::kChunkUnit) {
    return Error{ErrorKind::kCorrupt, name + ": cut inside its header, nothing can be read"};
  }
  const auto* header = reinterpret_cast<const format::FileHeader*>(file.data());
  if (header->byte_order != format::kByteOrder) {
    return Error{ErrorKind::kCorrupt, name + ": corrupt: the byte order in the header is wrong"};
  }
  if (header->major > format::kMajor) {
    return Error{ErrorKind::kNewer,
                 fmt::format("{}: format {}.{} is newer than this cuheap, which reads up to {}.x",
                             name, header->major, header->minor, format::kMajor)};
  }
  if (header->major == 0 || header->header_bytes < offsetof(format::FileHeader, reserved) ||
      header->header_bytes > format::kChunkUnit ||
      header->chunk_header_bytes != sizeof(format::ChunkHeader)) {
    return Error{ErrorKind::kCorrupt, name + ": corrupt: impossible sizes in the header"};
  }
  return header;
}

void CopyHeader(const format::FileHeader& header, Trace* trace) {
  trace->minor = header.minor;
  trace->identity = CopyIdentity(header);
  trace->completeness.clean_close = header.clean_close.load(std::memory_order_acquire) != 0;
  trace->last_event_time = header.last_event_time.load(kRelaxed);
  trace->close_time = header.close_time.load(kRelaxed);
  const std::uint32_t clock = header.clock.load(kRelaxed);
  trace->clock = clock < static_cast<std::uint32_t>(format::Signal::kCount)
                     ? static_cast<format::Signal>(clock)
                     : format::Signal::kNone;
  trace->steps = header.steps.load(kRelaxed);
  trace->clock_since_step = header.clock_since_step.load(kRelaxed);
  for (std::size_t i = 0; i < trace->signal_ticks.size(); ++i) {
    trace->signal_ticks[i] = header.signal_ticks[i].load(kRelaxed);
  }
#define CUHEAP_DROP(counter, what) trace->dropped.counter = header.dropped.counter.load(kRelaxed);
  CUHEAP_DROPS(CUHEAP_DROP)
#undef CUHEAP_DROP
  trace->mode = header.mode;
  trace->dropped_events = header.dropped_events.load(kRelaxed);
  trace->doors = {header.doors.runtime_calls.load(kRelaxed),
                  header.doors.driver_calls.load(kRelaxed),
                  header.doors.entry_point_lookups.load(kRelaxed)};
  for (std::size_t i = 0; i < trace->devices.size(); ++i)
    trace->devices[i] = CopyDevice(header.devices[i]);
}

}  // namespace cuheap::trace
