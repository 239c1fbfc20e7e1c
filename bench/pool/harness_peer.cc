// No allocator and no memory: what the benchmark itself costs, addresses that nobody else has.
#include <atomic>
#include <cstdint>

#include "bench/pool/peer.h"

namespace cuheap::bench {
namespace {

constexpr std::uintptr_t kAddressesOfThread = std::uintptr_t{1} << 48;  // never reached

std::uintptr_t AddressesOfThread() {
  static std::atomic<std::uintptr_t> threads{0};
  return ++threads * kAddressesOfThread;
}

class HarnessPeer final : public Peer {
 public:
  void* Allocate(std::size_t bytes, cudaStream_t) override {
    thread_local std::uintptr_t next = AddressesOfThread();
    const std::uintptr_t block = next;
    next += bytes;
    return reinterpret_cast<void*>(block);
  }
  void Free(void*, std::size_t, cudaStream_t) override {}
};

}  // namespace
}  // namespace cuheap::bench

cuheap::bench::Peer* cuheap_bench_make_peer() { return new cuheap::bench::HarnessPeer; }
