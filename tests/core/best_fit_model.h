// What the best fit must do, run as instructions beside a naive model: a list of extents that
// forgets nothing and searches everything. Random numbers and a fuzzer's bytes both are
// instructions; each is folded into what is allowed at that moment.
//
// After every instruction: the laws hold, both tile alike, and the block that was chosen is the one
// that the model would choose.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "allocator/core/best_fit.h"

namespace cuheap::core {

class BestFitModel {
 public:
  struct Instruction {
    std::uint8_t what;
    std::uint16_t which;
    std::uint16_t amount;
  };

  BestFitModel(std::uint32_t most_blocks, std::uint32_t most_segments)
      : fit_(most_blocks, most_segments) {}

  // Empty, or what went wrong and at which instruction.
  std::string Run(const std::vector<Instruction>& instructions);
  // Frees everything and removes all segments; what is left then must be nothing.
  std::string End();

 private:
  struct Extent {
    std::uint64_t begin;
    std::uint64_t bytes;
    BlockState state;
    std::uint64_t segment;  // its first address
    BlockId id;
  };

  void Step(const Instruction& instruction);
  void AddSegment(std::uint64_t bytes, BlockState state);
  void RemoveSegment(std::uint16_t which);
  void Allocate(std::uint64_t bytes);
  void AllocateAligned(std::uint64_t bytes, std::uint64_t alignment);
  void Free(std::uint16_t which);
  void Wait(std::uint16_t which);
  void Claim(const Instruction& instruction);
  void Trim(const Instruction& instruction);
  void Remap(const Instruction& instruction, BlockState from, BlockState to);
  // The part [begin, begin + bytes) of extents_[i], cut out of it.
  void Replace(std::size_t i, std::uint64_t begin, std::uint64_t bytes, BlockState state,
               BlockId id);
  void MergeAll();
  void Compare();
  std::vector<std::size_t> In(BlockState state) const;
  void Fail(const std::string& what) {
    if (failure_.empty()) failure_ = what;
  }

  BestFit fit_;
  std::vector<Extent> extents_;  // by address
  std::uint64_t next_segment_ = 1'000'000;
  std::string failure_;
};

}  // namespace cuheap::core
