// The trace file (*.cuheap): the ledger's memory itself, mapped by the process that is watched and
// read by the tools. This header is the only thing that writer and reader share;
// docs/trace-format.md explains it for other readers.
//
//   offset 0       FileHeader, one page
//   offset 4096    chunks, one behind the other, each a multiple of kChunkUnit, up to
//   FileHeader::used_bytes
//
// Laws
//   1. Little-endian, naturally aligned, no pointers. What is zero was never written.
//   2. A field marked (published) is stored last, with release; what it covers is complete once it
//   can be read.
//   3. Records never move. A reader in another process may read at any time: a BlockRecord or
//   InstantRecord is consistent if its
//      state word is the same, and not kFree, before and after the copy.
//   4. Nothing in the file is a lock. A writer that dies leaves a file that is whole up to the
//   operations in flight.
//   5. Same major version: readable by every reader of that major. Unknown chunk types, unknown
//   dictionary kinds and longer
//      records are skipped by their sizes; record_size and header_bytes say how long they are.
//   6. Times are nanoseconds since FileHeader::monotonic_start_ns. No two events of a file have the
//   same time.
//      The live set at instant t: records with birth_time <= t that are live or have free_time > t.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace cuheap::format {

// As PNG's: a byte above 127, a name, CR LF, end-of-file, LF: a transfer that mangles text mangles
// the magic.
inline constexpr unsigned char kMagic[8] = {0x89, 'C', 'U', 'H', '\r', '\n', 0x1a, '\n'};
inline constexpr std::uint16_t kMajor = 1;
inline constexpr std::uint16_t kMinor = 0;
inline constexpr std::uint32_t kByteOrder = 0x01020304;
inline constexpr std::uint32_t kChunkMagic = 0x4b4e4843;  // "CHNK"
inline constexpr std::uint64_t kChunkUnit = 4096;
inline constexpr std::uint32_t kMaxDevices =
    16;  // devices beyond are counted in DropCounters::devices

enum class Heap : std::uint8_t {
#define CUHEAP_HEAP(id, name, in_used, sees_requested, sees_waiting, sees_pool, what) k_##name = id,
#include "allocator/ledger/heaps.def"
#undef CUHEAP_HEAP
  kFirstAnnounced = 32,
};

enum class Signal : std::uint8_t {
#define CUHEAP_SIGNAL(id, name, what) k_##name = id,
#include "allocator/ledger/signals.def"
#undef CUHEAP_SIGNAL
  kCount,
  kNone = 255,
};

enum class Phase : std::uint8_t { kOther = 0, kForward = 1, kBackward = 2, kOptimizer = 3 };

// ---------------------------------------------------------------- header

enum class Storage : std::uint32_t {
  kSharedMemory = 0,  // lives in shared memory, copied to its destination at the end
  kInPlace = 1,       // shared memory missing or too small: mapped where it is
  kPrivate = 2,       // no shared mapping at all: written out at the end, at an OOM and at marks
};

// Whether Python frames can be trusted: the raw walk is compared once with the interpreter's own.
enum class PythonFrames : std::uint32_t {
  kNoPython = 0,   // no interpreter in the process
  kUnchecked = 1,  // walked, the comparison has not run yet
  kChecked = 2,    // walked, and equal to the interpreter's own
  kDiffer = 3,     // differed: switched off
  kUnsupported =
      4,     // this interpreter (version, free-threaded build, subinterpreters) is not walked
  kOff = 5,  // switched off by an option
};

enum class StackMode : std::uint32_t {
  kAuto = 0,
  kNone = 1,
  kTag = 2,
  kPython = 3,
  kNative = 4,
  kAll = 5
};

// What is kept beside the state.
enum class Mode : std::uint32_t {
  kSummary = 0,  // nothing
  kEvents = 1,   // the latest events
  kFull = 2,     // all events, as long as there is room
};

struct DeviceHeader {  // 128 bytes; a device that was never seen has total_bytes == 0 and
                       // last_sample_time == 0
  std::uint8_t uuid[16];
  char pci_bus_id[16];                          // "0000:10:00.0", empty if unknown
  std::uint64_t total_bytes;                    // as the driver says
  std::atomic<std::uint64_t> used_bytes;        // last sample: total - free, all processes
  std::atomic<std::uint64_t> last_sample_time;  // (published) 0 = never sampled
  std::atomic<std::uint64_t>
      pool_reserved_bytes;  // stream-ordered pools at the last sample; 0 if they are not used
  std::atomic<std::uint64_t> pool_used_bytes;
  std::atomic<std::uint64_t>
      peak_live_bytes;  // highest sum of live block bytes over the heaps that are in_used
  std::atomic<std::uint64_t> peak_time;
  std::atomic<std::uint64_t> live_bytes;  // gauge of the same sum, for live views
  std::uint32_t mig;                      // 1 if a MIG instance
  std::uint32_t reserved[3];
  std::uint64_t reserved2[2];
};
static_assert(sizeof(DeviceHeader) == 128);

// What was not kept. Zero means that nothing of that kind is missing.
struct DropCounters {
  std::atomic<std::uint64_t> blocks;  // births without a record (file full or limit reached)
  std::atomic<std::uint64_t> block_bytes;
  std::atomic<std::uint64_t>
      unknown_frees;  // deaths of blocks that were never seen, forwarded and counted
  std::atomic<std::uint64_t>
      sites;  // births charged to leaf and owner because the site table is full
  std::atomic<std::uint64_t> dictionary;  // entries that found no room
  std::atomic<std::uint64_t> marks;
  std::atomic<std::uint64_t> instants;     // user marks beyond the kept ones
  std::atomic<std::uint64_t> devices;      // events of devices beyond kMaxDevices
  std::atomic<std::uint64_t> frames;       // stacks cut at the frame limit
  std::atomic<std::uint64_t> late_events;  // events after the file was closed
};

// How the doors were reached, for the attachment proof: calls seen. What torch's door told is in
// the totals of its sites.
struct DoorCounters {
  std::atomic<std::uint64_t> runtime_calls;
  std::atomic<std::uint64_t> driver_calls;
  std::uint64_t reserved;
  std::atomic<std::uint64_t> entry_point_lookups;
};

struct FileHeader {  // one page
  unsigned char magic[8];
  std::uint16_t major;
  std::uint16_t minor;
  std::uint32_t header_bytes;        // sizeof(FileHeader)
  std::uint32_t byte_order;          // kByteOrder
  std::uint32_t chunk_header_bytes;  // sizeof(ChunkHeader)
  // identity
  char run_id[32];  // the same for all processes of one `cuheap run`; empty without
  char host[64];
  std::int32_t rank;        // from the environment (RANK and kin); -1 unknown
  std::int32_t world_size;  // -1 unknown
  std::uint32_t pid;
  std::uint32_t exec_count;           // how often this pid had opened a ledger before (exec)
  std::uint64_t process_start_ticks;  // field 22 of /proc/self/stat: tells a recycled pid
  std::uint64_t wall_start_ns;
  std::uint64_t monotonic_start_ns;  // CLOCK_MONOTONIC: the zero of every time in the file
  char program[256];  // basename of the executable and its arguments, cut; no arguments if redacted
  char options[256];  // the knobs that are not at their default, as "name=value ..."
  char destination[1024];  // absolute path where the file belongs
  Storage storage;
  StackMode stacks;
  std::uint32_t python_version;  // PY_VERSION_HEX; 0 without Python
  std::atomic<PythonFrames> python_frames;
  // progress
  std::atomic<std::uint64_t> used_bytes;  // (published) chunks end here
  std::atomic<std::uint64_t> last_event_time;
  std::atomic<std::uint64_t> close_time;
  std::atomic<std::uint32_t> clean_close;       // 1 = the process closed the file itself
  std::atomic<std::uint32_t> clock;             // Signal that counts the steps; 255 = none yet
  std::atomic<std::uint64_t> steps;             // steps ended so far by that clock
  std::atomic<std::uint64_t> clock_since_step;  // first step counted by the present clock (a
                                                // stronger signal restarts warm-up)
  std::atomic<std::uint64_t> signal_ticks[8];   // ticks by Signal
  DropCounters dropped;
  DoorCounters doors;
  DeviceHeader devices[kMaxDevices];
  Mode mode;
  std::uint32_t reserved3;
  std::atomic<std::uint64_t> dropped_events;  // the sum of all gaps
  std::uint8_t reserved[48];
};
static_assert(sizeof(FileHeader) <= kChunkUnit,
              "the header is one page; chunks start at kChunkUnit");

// ---------------------------------------------------------------- chunks

enum class ChunkType : std::uint16_t {
  kBlock = 1,       // BlockRecord[]: stable places
  kInstant = 2,     // InstantRecord[]: slots
  kTotal = 3,       // SiteTotals[]: slot i of the n-th such chunk belongs to the next site id in
                    // sequence (site field says which)
  kDictionary = 4,  // DictionaryEntry stream
  kTick = 5,        // TickRecord[]: ticks of one signal, thinned
  kMark = 6,        // MarkRecord[]
  kEvent = 7,       // EventRecord[], in modes events and full
};

struct ChunkHeader {                 // 64 bytes, at a multiple of kChunkUnit
  std::atomic<std::uint32_t> magic;  // (published) kChunkMagic
  ChunkType type;
  std::uint16_t record_size;             // bytes of one record; 0 for a stream
  std::uint32_t sequence;                // 0, 1, 2 ... per type (for kTick: per signal)
  std::uint32_t parameter;               // kTick: the Signal; kEvent: the chunk's turn, from 0
  std::uint64_t bytes;                   // whole chunk with this header
  std::atomic<std::uint64_t> committed;  // (published) payload bytes in use; the rest is zero
  std::uint8_t reserved[32];
};
static_assert(sizeof(ChunkHeader) == 64);

// ---------------------------------------------------------------- blocks

// state word: low 8 bits a BlockState, high 24 bits a generation that changes whenever the record
// is reused.
enum class BlockState : std::uint32_t { kFree = 0, kLive = 1, kDead = 2 };
constexpr BlockState StateOf(std::uint32_t word) { return static_cast<BlockState>(word & 0xffu); }
constexpr std::uint32_t StateWord(BlockState state, std::uint32_t generation) {
  return static_cast<std::uint32_t>(state) | (generation << 8);
}

enum BlockFlags : std::uint8_t {
  kServedAsSegment =
      1,           // another heap placed a block inside: this block is a segment, not itself live
  kUnmapped = 2,   // vmm: physical memory that is mapped nowhere; address is 0
  kWorkspace = 4,  // a library's workspace, known by its site
  kExpectSegment = 8,  // asked for by a caching allocator, nothing placed inside yet
  kInCapture = 16,     // born while a stream was being captured
};

struct BlockRecord {
  std::uint64_t address;
  std::uint64_t block_bytes;
  std::uint64_t requested_bytes;  // 0 where the heap does not see requests
  std::uint64_t birth_time;
  std::atomic<std::uint64_t> free_time;  // 0 while live; may be a few milliseconds early
  std::uint32_t site;                    // dictionary id of a site; 0 = unknown
  std::uint32_t birth_step;              // FileHeader::steps at birth
  std::uint16_t arena;                   // dictionary id; 0 = default
  std::uint16_t stream;                  // dictionary id; 0 = unknown or default
  std::uint8_t device;
  Heap heap;
  std::uint16_t thread;  // dictionary id
  Phase phase;
  std::atomic<std::uint8_t> flags;  // BlockFlags; kServedAsSegment may be added while live
  std::uint8_t
      segment_heap;  // with kServedAsSegment or kExpectSegment: the Heap that places blocks inside
  std::uint8_t reserved;
  std::atomic<std::uint32_t> state;  // (published)
};
static_assert(sizeof(BlockRecord) == 64);

// ---------------------------------------------------------------- instants

enum class InstantKind : std::uint8_t {
  kStepEnd = 1,  // one of the kept series; the newest one is the last step end
  kPeak = 2,     // per device
  kFirstOom = 3,
  kLastOom = 4,
  kMark = 5,  // named by the program or a person
  kExit = 6,  // the process closed the file
};

struct DeviceFigures {  // 40 bytes: the driver's figures known at the instant
  std::uint64_t used_bytes;
  std::uint64_t sample_time;  // 0 = never sampled before the instant
  std::uint64_t
      live_bytes;  // the ledger's sum of block bytes over heaps that are in_used, segments left out
  std::uint64_t pool_reserved_bytes;
  std::uint64_t pool_used_bytes;
};

struct InstantRecord {
  std::uint64_t time;
  std::uint64_t step;  // steps ended before or at the instant
  std::uint32_t name;  // string id (kMark), else 0
  InstantKind kind;
  std::uint8_t device;  // kPeak, kFirstOom, kLastOom: the device; 255 = all
  std::uint16_t reserved;
  std::uint64_t requested_bytes;  // of the request that failed (OOM), else 0
  DeviceFigures devices[kMaxDevices];
  std::uint8_t reserved2[28];
  std::atomic<std::uint32_t> state;  // (published) BlockState kFree or kLive with a generation
};
static_assert(sizeof(InstantRecord) == 704);

// ---------------------------------------------------------------- totals of a site

inline constexpr int kStepBuckets =
    20;  // bucket b: lifetimes in [2^(b-1), 2^b) steps; bucket 0: freed in its birth step
inline constexpr int kTimeBuckets = 40;  // the same in microseconds

struct SiteTotals {  // what cannot be derived from records, because records are reused
  std::uint32_t site;
  std::uint32_t reserved;
  std::atomic<std::uint64_t> blocks;  // ever born
  std::atomic<std::uint64_t> bytes;
  std::atomic<std::uint64_t> freed_blocks;
  std::atomic<std::uint64_t> last_free_time;
  std::atomic<std::uint64_t> last_birth_time;
  std::atomic<std::uint64_t> live_bytes;  // gauge
  std::atomic<std::uint64_t> peak_bytes;  // highest live_bytes
  std::atomic<std::uint32_t> steps_lived[kStepBuckets];
  std::atomic<std::uint32_t> microseconds_lived[kTimeBuckets];
  std::uint8_t reserved2[16];
};
static_assert(sizeof(SiteTotals) == 320);

// ---------------------------------------------------------------- ticks and marks

// Slot i of a kTick chunk holds tick i * stride, where the stride doubles when the chunk is full:
// half of the ticks go, places are reused. While that happens a reader may see a tick twice: sort
// by number, drop repeats.
struct TickRecord {
  std::uint64_t time;    // end of the step
  std::uint64_t number;  // 1, 2, 3 ...: how many ticks of this signal up to and with this one; 0 =
                         // slot not used
};
static_assert(sizeof(TickRecord) == 16);

enum class MarkKind : std::uint8_t {
  kUser = 1,
  kEmptyCache = 2,
  kClockChanged = 3,
  kOutOfMemory = 4,
  kPythonChecked = 5
};

struct MarkRecord {
  std::uint64_t time;
  std::uint64_t step;
  std::uint64_t value;  // kOutOfMemory: bytes asked for; kEmptyCache: bytes returned;
                        // kClockChanged: the new Signal
  std::uint32_t name;   // string id
  MarkKind kind;
  std::uint8_t device;  // 255 = none
  std::uint16_t reserved;
};
static_assert(sizeof(MarkRecord) == 32);

// ---------------------------------------------------------------- events

enum class EventKind : std::uint8_t {
  kAllocation = 1,
  kFree = 2,
  kFreeFailed = 3,  // the latest kFree of that block did not happen
  kRecordUse = 4,   // `stream` uses the block too
  kEmptyCache = 5,  // `bytes`: returned
  kSegmentMap = 6,  // an allocation that was asked for as a segment
  kSegmentUnmap = 7,
  kStep = 8,  // the clock ended a step
  kGap = 9,   // `address`: how many events before or after it are lost, since the file's beginning
};

// Chunks of mode events are begun anew: `committed` falls to one record and `parameter` rises.
// Events are in order by time.
struct EventRecord {
  std::uint64_t time = 0;
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;   // requested ones where the heap sees them, else the block's
  std::uint16_t stream = 0;  // dictionary ids
  std::uint16_t arena = 0;
  std::uint8_t device = 0;
  Heap heap{};
  EventKind kind{};
  Phase phase{};
};
static_assert(sizeof(EventRecord) == 32);

// ---------------------------------------------------------------- dictionary

enum class DictionaryKind : std::uint16_t {
  kString = 1,
  kModule = 2,
  kCode = 3,
  kSite = 4,
  kThread = 5,
  kStream = 6,
  kArena = 7,
  kHeap = 8,
  kTags = 9,
};

// An entry: this header, its payload, zero bytes up to a multiple of 8. Ids count from 1 per kind,
// in file order.
struct DictionaryEntry {
  std::uint32_t bytes;  // whole entry, padding included
  DictionaryKind kind;
  std::uint16_t reserved;
  std::uint32_t id;
  std::uint32_t payload_bytes;  // without the padding
};
static_assert(sizeof(DictionaryEntry) == 16);

// kString: payload is the text, UTF-8, no terminator.

struct ModuleEntry {
  std::uint64_t load_bias;  // address = load_bias + offset in the ELF file's address space
  std::uint64_t map_begin;
  std::uint64_t map_end;
  std::uint32_t path;  // string id
  std::uint8_t build_id_bytes;
  std::uint8_t build_id[20];
  std::uint8_t reserved[7];
};
static_assert(sizeof(ModuleEntry) == 56);

// kCode: a Python code object, by content. Followed by linetable_bytes bytes of the interpreter's
// own line table (co_lnotab for 3.9, co_linetable from 3.10), to be decoded for
// FileHeader::python_version.
struct CodeEntry {
  std::uint32_t file;      // string id
  std::uint32_t function;  // string id: the qualified name (the plain name below 3.11)
  std::int32_t first_line;
  std::uint32_t linetable_bytes;
};
static_assert(sizeof(CodeEntry) == 16);

// A frame of a site in 64 bits; the kind is in the top two bits.
//   native:  module id (22 bits) << 40 | offset in the module (40 bits): of the return address
//   minus one, so inside the call python:  code id (30 bits) << 32 | byte offset of the instruction
//   in the code object's bytecode (32 bits) raw:     an address that belongs to no module (62 bits)
enum class FrameKind : std::uint8_t { kNative = 0, kPython = 1, kRaw = 2 };
constexpr std::uint64_t NativeFrame(std::uint32_t module, std::uint64_t offset) {
  return (static_cast<std::uint64_t>(module & 0x3fffffu) << 40) | (offset & 0xffffffffffu);
}
constexpr std::uint64_t PythonFrame(std::uint32_t code, std::uint32_t instruction) {
  return (std::uint64_t{1} << 62) | (static_cast<std::uint64_t>(code & 0x3fffffffu) << 32) |
         instruction;
}
constexpr std::uint64_t RawFrame(std::uint64_t address) {
  return (std::uint64_t{2} << 62) | (address & ((std::uint64_t{1} << 62) - 1));
}
constexpr FrameKind KindOf(std::uint64_t frame) { return static_cast<FrameKind>(frame >> 62); }
constexpr std::uint32_t ModuleOf(std::uint64_t frame) {
  return static_cast<std::uint32_t>(frame >> 40) & 0x3fffffu;
}
constexpr std::uint64_t OffsetOf(std::uint64_t frame) { return frame & 0xffffffffffu; }
constexpr std::uint32_t CodeOf(std::uint64_t frame) {
  return static_cast<std::uint32_t>(frame >> 32) & 0x3fffffffu;
}
constexpr std::uint32_t InstructionOf(std::uint64_t frame) {
  return static_cast<std::uint32_t>(frame);
}
constexpr std::uint64_t AddressOf(std::uint64_t frame) {
  return frame & ((std::uint64_t{1} << 62) - 1);
}

enum SiteFlags : std::uint8_t {
  kSiteOverflow = 1,  // the site table was full: only the leaf frame and the owner were kept
  kSiteCut = 2,       // outer frames were cut at the frame limit
};

// kSite: followed by frame_count frames (8 bytes each), innermost first. Python frames where the
// thread had any, then native frames where they were captured too.
struct SiteEntry {
  Heap heap;
  std::uint8_t flags;  // SiteFlags
  std::uint16_t frame_count;
  std::uint32_t owner;  // module id of the owner library; 0 = unknown
  std::uint32_t tags;   // id of a kTags entry; 0 = none
  std::uint32_t reserved;
};
static_assert(sizeof(SiteEntry) == 16);

struct ThreadEntry {
  std::uint32_t tid;
  std::uint32_t name;  // string id
};

struct StreamEntry {
  std::uint64_t handle;
  std::uint32_t device;
  std::uint32_t reserved;
};

// kArena, kHeap: payload is a u32 string id. kTags: u32 string ids, outermost first.

}  // namespace cuheap::format
