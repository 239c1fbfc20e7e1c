// An allocator of device memory as the benchmark drives it. Each peer is a shared library of its
// own, lib/peers/libcuheap_bench_NAME.so, so that no peer's headers and libraries meet another's.
//
// Laws: 1. Each process loads one peer. 2. Blocks of a peer that lives do not overlap. 3. A peer
//       that is destroyed has given its memory back to the device.
// Threads: blocks come and go on any thread at once.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

namespace cuheap::bench {

class Peer {
 public:
  virtual ~Peer() = default;
  // Null: no memory.
  virtual void* Allocate(std::size_t bytes, cudaStream_t stream) = 0;
  // REQUIRES: what Allocate was told.
  virtual void Free(void* block, std::size_t bytes, cudaStream_t stream) = 0;

 protected:
  Peer() = default;
  Peer(const Peer&) = delete;
  Peer& operator=(const Peer&) = delete;
};

}  // namespace cuheap::bench

// What the library of a peer exports.
extern "C" cuheap::bench::Peer* cuheap_bench_make_peer();
