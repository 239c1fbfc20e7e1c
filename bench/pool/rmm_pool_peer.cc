// RMM's pool, with half of the device to begin with, as in RMM's own benchmarks.
#include <rmm/cuda_device.hpp>
#include <rmm/mr/device/pool_memory_resource.hpp>

#include "bench/pool/rmm_peer.h"

cuheap::bench::Peer* cuheap_bench_make_peer() {
  using Pool = cuheap::bench::RmmPeer<rmm::mr::pool_memory_resource>;
  return new Pool(rmm::percent_of_free_device_memory(50));
}
