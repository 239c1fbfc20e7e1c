#include "bench/pool/fixture.h"
#include "bench/pool/workloads.h"

namespace cuheap::bench {
namespace {

Figures HitOf(const Bench& bench, std::size_t bytes) {
  constexpr unsigned kPairsBetweenLooks = 64;
  const Streams streams(1);
  const std::unique_ptr<Peer> peer = bench.make_peer();
  const auto pair = [&] { peer->Free(Take(*peer, bytes, streams[0]), bytes, streams[0]); };
  const auto pairs = [&] {
    for (unsigned i = 0; i < kPairsBetweenLooks; ++i) pair();
    return kPairsBetweenLooks;
  };
  Repeat(bench.effort.warming, 0, pairs);
  const Window window = Repeat(bench.effort.measuring, 0, pairs);
  Samples samples;
  Repeat(bench.effort.sampling, 0, [&] {
    samples.Time(pair);
    return 1U;
  });
  return Figures::Of({window}, samples);
}

}  // namespace

void Hit(const Bench& bench) {
  bench.report("hit, 4 KiB", HitOf(bench, 4 << 10));
  bench.report("hit, 512 KiB", HitOf(bench, 512 << 10));
}

}  // namespace cuheap::bench
