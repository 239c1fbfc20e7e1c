// What workloads share: streams, and blocks that must come.
#pragma once

#include <cstdint>
#include <vector>

#include "bench/pool/peer.h"

namespace cuheap::bench {

class Streams {
 public:
  explicit Streams(unsigned count);
  ~Streams();
  Streams(const Streams&) = delete;
  Streams& operator=(const Streams&) = delete;

  cudaStream_t operator[](std::size_t index) const { return streams_[index]; }
  std::size_t size() const { return streams_.size(); }

 private:
  std::vector<cudaStream_t> streams_;
};

[[noreturn]] void Refused(std::size_t bytes);

inline void* Take(Peer& peer, std::size_t bytes, cudaStream_t stream) {
  void* const block = peer.Allocate(bytes, stream);
  if (block == nullptr) Refused(bytes);
  return block;
}

}  // namespace cuheap::bench
