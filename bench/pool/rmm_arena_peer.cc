// RMM's arenas, with half of the device, which is their default.
#include <rmm/mr/device/arena_memory_resource.hpp>

#include "bench/pool/rmm_peer.h"

cuheap::bench::Peer* cuheap_bench_make_peer() {
  return new cuheap::bench::RmmPeer<rmm::mr::arena_memory_resource>;
}
