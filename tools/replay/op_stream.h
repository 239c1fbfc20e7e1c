// What a trace comes down to for an allocator: an order of operations on numbered blocks. Every
// reader of this folder makes one, every policy is driven by one.
//
// Laws: 1. Blocks are numbered from 0 in the order of their allocation; each is allocated once.
//       2. A block is freed at most once, and used only between its allocation and its free.
//       3. Sizes are from 1 byte to kMostBytes, devices below kMostDevices.
//       4. Sums of live bytes fit in 64 bits.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "allocator/base/bytes.h"
#include "allocator/base/ids.h"

namespace cuheap::replay {

enum class OpKind : std::uint8_t {
  kAllocate,
  kFree,
  kRecordUse,  // a stream other than the block's own uses it until it is freed
  kStep,       // of the program: the end of one turn of its loop
};

enum class BlockNumber : std::uint32_t {};
constexpr std::uint32_t Value(BlockNumber block) { return static_cast<std::uint32_t>(block); }

struct Op {
  Bytes bytes{};          // kAllocate
  StreamHandle stream{};  // kAllocate, kRecordUse: a number, 0 is the default stream
  BlockNumber block{};
  DeviceId device{};  // kAllocate
  OpKind kind{};
};

struct OpStream {
  static constexpr Bytes kMostBytes = 256_GiB;
  static constexpr std::uint32_t kMostDevices = 16;
  static constexpr std::uint32_t kMostBlocks = 1u << 25;  // times kMostBytes is below 2^64

  std::vector<Op> ops;
  std::vector<std::string> notes;  // what a reader had to assume, a sentence each
};

// Empty, or the first law that does not hold, and where.
std::string FirstBrokenLaw(const OpStream& stream);

struct OpFigures {
  std::uint64_t allocations = 0;
  std::uint64_t frees = 0;
  std::uint64_t uses = 0;
  std::uint64_t steps = 0;
  std::uint32_t devices = 0;     // the highest one, and one
  std::uint64_t streams = 0;     // that allocate or use, over all devices
  DeviceId fullest{};            // the device with the highest peak
  std::vector<Bytes> peak_live;  // by device, of the bytes asked for
};

OpFigures FiguresOf(const OpStream& stream);

}  // namespace cuheap::replay
