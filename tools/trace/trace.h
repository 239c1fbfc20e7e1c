// A trace in memory: plain values, nothing points into the file. Times are nanoseconds since the
// ledger's start.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "allocator/ledger/format.h"
#include "tools/trace/dictionary.h"

namespace cuheap::trace {

struct Identity {
  std::string run_id;
  std::string host;
  std::int32_t rank = -1;
  std::int32_t world_size = -1;
  std::uint32_t pid = 0;
  std::uint32_t exec_count = 0;
  std::uint64_t process_start_ticks = 0;
  std::uint64_t wall_start_ns = 0;
  std::uint64_t monotonic_start_ns = 0;
  std::string program;
  std::string options;
  std::string destination;
  format::Storage storage{};
  format::StackMode stacks{};
  std::uint32_t python_version = 0;
  format::PythonFrames python_frames{};
};

struct Device {
  std::string uuid;  // hex digits
  std::string pci_bus_id;
  std::uint64_t total_bytes = 0;
  std::uint64_t peak_live_bytes = 0;
  std::uint64_t peak_time = 0;
  format::DeviceFigures last{};  // the figures at the end of the file
  bool mig = false;

  bool seen() const { return total_bytes != 0 || last.sample_time != 0 || peak_live_bytes != 0; }
};

// CUHEAP_DROP(counter, what a reader should know about it)
#define CUHEAP_DROPS(DROP)                                                               \
  DROP(blocks, "allocations without a record: the file was full")                        \
  DROP(block_bytes, "bytes of those allocations")                                        \
  DROP(unknown_frees, "frees of memory that was never seen")                             \
  DROP(sites, "allocations charged to leaf and owner only: the table of sites was full") \
  DROP(dictionary, "names that found no room")                                           \
  DROP(marks, "marks that found no room")                                                \
  DROP(instants, "named instants beyond the kept ones")                                  \
  DROP(devices, "events of devices beyond the sixteenth")                                \
  DROP(frames, "stacks cut at the frame limit")                                          \
  DROP(late_events, "events after the file was closed")

struct Dropped {
#define CUHEAP_DROP(counter, what) std::uint64_t counter = 0;
  CUHEAP_DROPS(CUHEAP_DROP)
#undef CUHEAP_DROP
};

struct Doors {
  std::uint64_t runtime_calls = 0;
  std::uint64_t driver_calls = 0;
  std::uint64_t entry_point_lookups = 0;
};

struct Block {
  std::uint64_t address = 0;
  std::uint64_t block_bytes = 0;
  std::uint64_t requested_bytes = 0;
  std::uint64_t birth_time = 0;
  std::uint64_t free_time = 0;  // 0 while live
  std::uint32_t site = 0;
  std::uint32_t birth_step = 0;
  std::uint16_t arena = 0;
  std::uint16_t stream = 0;
  std::uint16_t thread = 0;
  std::uint8_t device = 0;
  format::Heap heap{};
  format::Phase phase{};
  std::uint8_t flags = 0;
  format::Heap segment_heap{};

  bool AliveAt(std::uint64_t time) const {
    return birth_time <= time && (free_time == 0 || free_time > time);
  }
  // Requested bytes where the heap sees them, else block bytes (the meaning of `live`).
  std::uint64_t live_bytes() const { return requested_bytes != 0 ? requested_bytes : block_bytes; }
};

struct Instant {
  format::InstantKind kind{};
  std::uint64_t time = 0;
  std::uint64_t step = 0;
  std::string name;
  std::uint8_t device = 255;
  std::uint64_t requested_bytes = 0;
  std::array<format::DeviceFigures, format::kMaxDevices> devices{};
};

struct Totals {
  std::uint64_t blocks = 0;
  std::uint64_t bytes = 0;
  std::uint64_t freed_blocks = 0;
  std::uint64_t last_free_time = 0;
  std::uint64_t last_birth_time = 0;
  std::uint64_t live_bytes = 0;
  std::uint64_t peak_bytes = 0;
  std::array<std::uint32_t, format::kStepBuckets> steps_lived{};
  std::array<std::uint32_t, format::kTimeBuckets> microseconds_lived{};
};

struct Mark {
  std::uint64_t time = 0;
  std::uint64_t step = 0;
  std::uint64_t value = 0;
  std::string name;
  format::MarkKind kind{};
  std::uint8_t device = 255;
};

struct Event {
  std::uint64_t time = 0;
  std::uint64_t address = 0;  // of a kGap: how many are lost
  std::uint64_t bytes = 0;
  std::uint16_t stream = 0;
  std::uint16_t arena = 0;
  std::uint8_t device = 0;
  format::Heap heap{};
  format::EventKind kind{};
  format::Phase phase{};
};

// How much of the truth the file holds.
struct Completeness {
  bool clean_close = false;
  bool running = false;  // the process was alive on this machine when the file was read
  bool cut = false;
  std::uint64_t cut_at = 0;
  std::uint64_t expected_bytes = 0;  // what the header says the file's size is
  std::uint64_t torn_records = 0;    // changed while they were copied
  std::uint64_t damaged_records = 0;
  std::uint64_t unknown_chunks = 0;
  std::string instead;  // where it was read from when the named file was gone; else empty
};

struct Trace {
  std::string path;  // as the user named it
  std::uint64_t file_bytes = 0;
  std::uint16_t minor = 0;
  Identity identity;
  Completeness completeness;
  Dropped dropped;
  Doors doors;
  std::uint64_t last_event_time = 0;
  std::uint64_t close_time = 0;
  format::Signal clock = format::Signal::kNone;
  std::uint64_t steps = 0;  // ended by the present clock; all steps here are counted by it
  std::uint64_t clock_since_step = 0;  // steps that weaker clocks had counted before
  std::array<std::uint64_t, 8> signal_ticks{};
  std::array<Device, format::kMaxDevices> devices;
  std::vector<Block> blocks;
  std::vector<Instant> instants;  // by time
  std::vector<Totals> totals;     // by site id; index 0 is the unknown site
  std::array<std::vector<format::TickRecord>, static_cast<std::size_t>(format::Signal::kCount)>
      ticks;
  std::vector<Mark> marks;
  format::Mode mode{};
  std::vector<Event> events;  // by time
  std::uint64_t dropped_events = 0;
  Dictionary dictionary;

  // Whether blocks are missing, so that what is not seen may still be there.
  bool lost_blocks() const {
    return completeness.cut || completeness.damaged_records > 0 || dropped.blocks > 0;
  }
  const Totals& totals_of(std::uint32_t site) const {
    static const Totals none{};
    return site < totals.size() ? totals[site] : none;
  }
  // Births and deaths ever seen of a heap.
  std::uint64_t events_of(format::Heap heap) const {
    std::uint64_t count = 0;
    for (std::uint32_t site = 1; site < totals.size(); ++site)
      if (dictionary.site(site).heap == heap)
        count += totals[site].blocks + totals[site].freed_blocks;
    return count;
  }
};

// The name of a signal as reports print it ("torch optimizer"), and of the other enumerations.
const char* NameOf(format::Signal signal);
const char* NameOf(format::InstantKind kind);
const char* NameOf(format::MarkKind kind);
const char* NameOf(format::EventKind kind);
const char* NameOf(format::Mode mode);
const char* NameOf(format::Phase phase);
const char* NameOf(format::Storage storage);
const char* NameOf(format::StackMode stacks);
const char* NameOf(format::PythonFrames frames);

}  // namespace cuheap::trace
