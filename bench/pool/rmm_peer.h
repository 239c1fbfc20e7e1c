// A memory resource of RMM, over cudaMalloc, as a peer.
#pragma once

#include <cstddef>
#include <rmm/cuda_stream_view.hpp>
#include <rmm/mr/device/cuda_memory_resource.hpp>
#include <utility>

#include "bench/pool/peer.h"

namespace cuheap::bench {

template <template <class Upstream> class Resource>
class RmmPeer final : public Peer {
 public:
  template <class... Arguments>
  explicit RmmPeer(Arguments&&... arguments)
      : resource_(&upstream_, std::forward<Arguments>(arguments)...) {}

  void* Allocate(std::size_t bytes, cudaStream_t stream) override {
    try {
      return resource_.allocate(bytes, rmm::cuda_stream_view(stream));
    } catch (const rmm::bad_alloc&) {
      return nullptr;
    }
  }
  void Free(void* block, std::size_t bytes, cudaStream_t stream) override {
    resource_.deallocate(block, bytes, rmm::cuda_stream_view(stream));
  }

 private:
  rmm::mr::cuda_memory_resource upstream_;
  Resource<rmm::mr::cuda_memory_resource> resource_;
};

}  // namespace cuheap::bench
