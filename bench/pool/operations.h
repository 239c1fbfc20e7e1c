// What the workloads do, written down before anything is measured: the same for every peer.
#pragma once

#include <cstdint>
#include <vector>

namespace cuheap::bench {

// Deterministic and the same on every machine.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  std::uint64_t Next();
  std::uint64_t Below(std::uint64_t bound) { return Next() % bound; }

 private:
  std::uint64_t state_;
};

// Frees the block of a slot and puts a new one there.
struct Exchange {
  std::uint32_t slot;
  std::uint32_t bytes;
};

constexpr std::uint32_t kSmallestBlock = 512;
constexpr std::uint32_t kLargestBlock = 700'000;

// Slots are random, sizes log-uniform from kSmallestBlock to kLargestBlock.
std::vector<Exchange> Exchanges(std::uint64_t seed, std::uint32_t slots, std::uint32_t count);

// Allocates `bytes`, or frees a block (bytes 0): the one at `index` of those that live, whose place
// the last one takes.
struct Turn {
  std::uint64_t bytes;
  std::uint32_t index;
};

struct RandomAllocationsRules {
  std::uint32_t allocations;
  std::uint64_t largest;  // bytes of a block; sizes are uniform
};

// The rules of RMM's benchmark RANDOM_ALLOCATIONS: two turns an allocation, 73 of 100 allocate as
// long as allocations are left and at most 16 000 MiB are in use. At the end nothing lives.
std::vector<Turn> RandomAllocationsTurns(const RandomAllocationsRules& rules);

}  // namespace cuheap::bench
