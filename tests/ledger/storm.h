// What the storm program and its test share: a page in which each thread keeps its own account of
// what it told the ledger.
#pragma once

#include <atomic>
#include <cstdint>

namespace cuheap::testing {

inline constexpr int kStormThreads = 4;

// An operation in flight is started and not ended.
struct Tally {
  std::atomic<std::uint64_t> births_started, births_ended, deaths_started, deaths_ended;
};

struct TallyPage {
  Tally threads[kStormThreads];
};

// Which thread a block belongs to stands in its address.
constexpr std::uint64_t StormAddress(int thread, std::uint64_t number) {
  return (static_cast<std::uint64_t>(thread) << 44) | (number << 9);
}
constexpr int StormThread(std::uint64_t address) { return static_cast<int>(address >> 44) - 1; }

}  // namespace cuheap::testing
