// CUB's cache with its default bins and no bound on what it keeps: what it can do at its best.
#include "bench/pool/cub_peer.h"

cuheap::bench::Peer* cuheap_bench_make_peer() {
  constexpr unsigned kGrowth = 8;
  constexpr unsigned kSmallestBin = 3;
  constexpr unsigned kLargestBin = 7;
  return new cuheap::bench::CubPeer(kGrowth, kSmallestBin, kLargestBin);
}
