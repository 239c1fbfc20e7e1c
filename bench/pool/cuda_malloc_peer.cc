// No allocator: each block is the driver's, here a simulated one that answers at once.
#include "bench/pool/peer.h"

namespace cuheap::bench {
namespace {

class CudaMallocPeer final : public Peer {
 public:
  void* Allocate(std::size_t bytes, cudaStream_t) override {
    void* block = nullptr;
    return cudaMalloc(&block, bytes) == cudaSuccess ? block : nullptr;
  }
  void Free(void* block, std::size_t, cudaStream_t) override { cudaFree(block); }
};

}  // namespace
}  // namespace cuheap::bench

cuheap::bench::Peer* cuheap_bench_make_peer() { return new cuheap::bench::CudaMallocPeer; }
