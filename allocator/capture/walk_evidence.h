// What a walk over native frames rested on: the registers it began with, and the words of the stack
// that decided where it went. From the same place, with the same registers and the same words, a
// walk finds the same frames, unless the code behind them was replaced.
#pragma once

#include <cstdint>

namespace cuheap::capture {

struct WalkEvidence {
  static constexpr int kMostWords = 40;
  static constexpr std::uint64_t kWord = 8;
  static constexpr std::uint64_t kFarthest = 0xffff;  // in words above the stack pointer

  std::uint64_t words[kMostWords];
  std::uint16_t places[kMostWords];  // of the words, counted in words from the stack pointer
  int count = 0;
  std::uint16_t highest = 0;  // of the places
  bool needs_rbp = false;     // the value that rbp had at the beginning mattered
  bool needs_rbx = false;
  bool complete = true;  // false: the walk also rested on something else

  void Add(std::uint64_t sp, std::uint64_t address, std::uint64_t word) {
    const std::uint64_t place = (address - sp) / kWord;
    if (count == kMostWords || address < sp || address % kWord != 0 || place > kFarthest) {
      complete = false;
      return;
    }
    words[count] = word;
    places[count] = static_cast<std::uint16_t>(place);
    if (places[count] > highest) highest = places[count];
    ++count;
  }
};

}  // namespace cuheap::capture
