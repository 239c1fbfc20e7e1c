// CUB's CachingDeviceAllocator as a peer.
#pragma once

#include <cstddef>
#include <cub/util_allocator.cuh>
#include <utility>

#include "bench/pool/peer.h"

namespace cuheap::bench {

class CubPeer final : public Peer {
 public:
  template <class... Arguments>
  explicit CubPeer(Arguments&&... arguments) : cache_(std::forward<Arguments>(arguments)...) {}

  void* Allocate(std::size_t bytes, cudaStream_t stream) override {
    void* block = nullptr;
    return cache_.DeviceAllocate(&block, bytes, stream) == cudaSuccess ? block : nullptr;
  }
  void Free(void* block, std::size_t, cudaStream_t) override { cache_.DeviceFree(block); }

 private:
  cub::CachingDeviceAllocator cache_;
};

}  // namespace cuheap::bench
