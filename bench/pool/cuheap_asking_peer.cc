// The pool where nobody announces anything: each allocation asks the driver which stream it is for.
#include "bench/pool/cuheap_peer.h"

cuheap::bench::Peer* cuheap_bench_make_peer() {
  return new cuheap::bench::CuheapPeer(cuheap::pool::StreamIdentity::kAsk);
}
