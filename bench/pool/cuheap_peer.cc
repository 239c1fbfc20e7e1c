// The pool where the program announces the end of streams and captures: a hit asks the driver
// nothing.
#include "bench/pool/cuheap_peer.h"

cuheap::bench::Peer* cuheap_bench_make_peer() {
  return new cuheap::bench::CuheapPeer(cuheap::pool::StreamIdentity::kAnnounced);
}
