// PyTorch's native caching allocator, in the wheel's own libraries. The process has one, so every
// peer is the same; destroyed, it empties the cache.
#include <c10/cuda/CUDACachingAllocator.h>

#include <cstddef>

#include "bench/pool/peer.h"

namespace cuheap::bench {
namespace {

namespace caching = c10::cuda::CUDACachingAllocator;

class TorchPeer final : public Peer {
 public:
  TorchPeer() {
    int devices = 0;
    if (cudaGetDeviceCount(&devices) == cudaSuccess) caching::init(devices);
  }
  ~TorchPeer() override { caching::emptyCache(); }

  void* Allocate(std::size_t bytes, cudaStream_t stream) override {
    try {
      return caching::raw_alloc_with_stream(bytes, stream);
    } catch (const c10::OutOfMemoryError&) {
      return nullptr;
    }
  }
  void Free(void* block, std::size_t, cudaStream_t) override { caching::raw_delete(block); }
};

}  // namespace
}  // namespace cuheap::bench

cuheap::bench::Peer* cuheap_bench_make_peer() { return new cuheap::bench::TorchPeer; }
