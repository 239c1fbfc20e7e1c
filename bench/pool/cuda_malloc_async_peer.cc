// The driver's own pool, here a simulated one: the default pool of device 0.
#include "bench/pool/peer.h"

namespace cuheap::bench {
namespace {

class CudaMallocAsyncPeer final : public Peer {
 public:
  ~CudaMallocAsyncPeer() override {
    cudaMemPool_t pool = nullptr;
    cudaDeviceSynchronize();
    if (cudaDeviceGetDefaultMemPool(&pool, 0) == cudaSuccess) cudaMemPoolTrimTo(pool, 0);
  }

  void* Allocate(std::size_t bytes, cudaStream_t stream) override {
    void* block = nullptr;
    return cudaMallocAsync(&block, bytes, stream) == cudaSuccess ? block : nullptr;
  }
  void Free(void* block, std::size_t, cudaStream_t stream) override {
    cudaFreeAsync(block, stream);
  }
};

}  // namespace
}  // namespace cuheap::bench

cuheap::bench::Peer* cuheap_bench_make_peer() { return new cuheap::bench::CudaMallocAsyncPeer; }
