// This project's pool as a peer: on libcuda, which here is the simulated one.
#pragma once

#include <cstdio>
#include <cstdlib>

#include "allocator/driver/cuda_driver.h"
#include "allocator/pool/pool.h"
#include "bench/pool/peer.h"

namespace cuheap::bench {

class CuheapPeer final : public Peer {
 public:
  explicit CuheapPeer(pool::StreamIdentity identity) {
    if (!driver_.Start(CudaDriver::FindInLibcuda).ok()) {
      std::fprintf(stderr, "cuheap: no driver (%s)\n", driver_.missing());
      std::exit(1);
    }
    pool::Options options;
    options.identity = identity;
    pool_.Start(&driver_, options);
  }
  ~CuheapPeer() override { pool_.Shutdown(); }

  void* Allocate(std::size_t bytes, cudaStream_t stream) override {
    Address address{};
    const pool::Request request{.bytes = Bytes(bytes), .stream = HandleOf(stream)};
    return pool_.Allocate(request, &address).ok() ? reinterpret_cast<void*>(Value(address))
                                                  : nullptr;
  }
  void Free(void* block, std::size_t, cudaStream_t) override {
    (void)pool_.Free(Address(reinterpret_cast<std::uintptr_t>(block)));
  }

 private:
  static StreamHandle HandleOf(cudaStream_t stream) {
    return StreamHandle(reinterpret_cast<std::uintptr_t>(stream));
  }

  CudaDriver driver_;
  pool::Pool pool_;
};

}  // namespace cuheap::bench
