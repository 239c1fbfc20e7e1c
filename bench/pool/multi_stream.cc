#include "bench/pool/fixture.h"
#include "bench/pool/workloads.h"

namespace cuheap::bench {
namespace {

constexpr unsigned kBlocks = 4;
constexpr std::size_t kBytes = 8;

Figures FiguresOf(const Bench& bench, unsigned count) {
  const Streams streams(count);
  const std::unique_ptr<Peer> peer = bench.make_peer();
  const auto round = [&] {
    for (unsigned i = 0; i < kBlocks; ++i) {
      const cudaStream_t stream = streams[i % count];
      peer->Free(Take(*peer, kBytes, stream), kBytes, stream);
    }
    return kBlocks;
  };
  Repeat(bench.effort.warming, 0, round);
  return Figures::Of({Repeat(bench.effort.measuring, 0, round)}, Samples());
}

}  // namespace

void MultiStream(const Bench& bench) {
  for (unsigned streams : {1, 2, 4})
    bench.report(
        "MULTI_STREAM, " + std::to_string(streams) + (streams == 1 ? " stream" : " streams"),
        FiguresOf(bench, streams));
}

}  // namespace cuheap::bench
