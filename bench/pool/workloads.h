// The workloads that every peer goes through. Each case has a fresh peer; streams are made before
// it and destroyed after it. A workload that a peer refuses memory ends the process.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "bench/pool/measure.h"
#include "bench/pool/peer.h"

namespace cuheap::bench {

// How long each case takes, and which there are.
struct Effort {
  std::chrono::milliseconds warming{40};
  std::chrono::milliseconds measuring{80};
  std::chrono::milliseconds sampling{40};
  std::vector<std::uint32_t> live{16, 1024, 16384};  // blocks of each thread
  std::uint32_t usual_live = 1024;                   // where streams are varied
  std::vector<unsigned> threads{1, 2, 4};
  std::uint32_t random_allocations = 10'000;
};

struct Bench {
  Effort effort;
  std::function<std::unique_ptr<Peer>()> make_peer;
  std::function<void(const std::string& name, const Figures& figures)> report;
};

// One block is freed and allocated again and again.
void Hit(const Bench& bench);
// Each thread has its own blocks, of which a random one is exchanged for one of another size.
void Steady(const Bench& bench);
// RMM's benchmark RANDOM_ALLOCATIONS.
void RandomAllocations(const Bench& bench);
// RMM's benchmark MULTI_STREAM without its kernels: four blocks of eight bytes, on streams in turn.
void MultiStream(const Bench& bench);

}  // namespace cuheap::bench
