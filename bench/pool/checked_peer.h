// A peer under observation: every block is compared with all that live. For tests, not for
// measurements.
//
// Threads: any. Destroyed by one, when nobody uses it.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>

#include "bench/pool/peer.h"

namespace cuheap::bench {

// Says what is wrong on stderr and counts it.
class Complaints {
 public:
  void Add(const char* what);
  unsigned count() const { return count_; }

 private:
  unsigned count_ = 0;
};

class CheckedPeer final : public Peer {
 public:
  // Makes the peer. `complaints` outlives it.
  CheckedPeer(Peer* (*make)(), Complaints& complaints);
  // Complains about blocks that live and about memory that the peer keeps.
  ~CheckedPeer() override;

  void* Allocate(std::size_t bytes, cudaStream_t stream) override;
  void Free(void* block, std::size_t bytes, cudaStream_t stream) override;

 private:
  bool Overlaps(std::uintptr_t address, std::size_t bytes) const;

  std::mutex mutex_;
  Complaints& complaints_;
  std::map<std::uintptr_t, std::size_t> live_;
  const std::size_t free_before_;
  std::unique_ptr<Peer> peer_;
};

}  // namespace cuheap::bench
