// CUB's cache as it is by default: bins of 512 bytes to 2 MiB, at most 6 MiB cached.
#include "bench/pool/cub_peer.h"

cuheap::bench::Peer* cuheap_bench_make_peer() { return new cuheap::bench::CubPeer; }
