#include "bench/pool/fixture.h"
#include "bench/pool/operations.h"
#include "bench/pool/workloads.h"

namespace cuheap::bench {
namespace {

struct Block {
  void* address;
  std::size_t bytes;
};

// All turns from nothing to nothing; `live` is empty before and after.
void Play(Peer& peer, const std::vector<Turn>& turns, cudaStream_t stream,
          std::vector<Block>& live) {
  for (const Turn& turn : turns) {
    if (turn.bytes != 0) {
      live.push_back({Take(peer, turn.bytes, stream), turn.bytes});
      continue;
    }
    peer.Free(live[turn.index].address, live[turn.index].bytes, stream);
    live[turn.index] = live.back();
    live.pop_back();
  }
}

Figures FiguresOf(const Bench& bench, const RandomAllocationsRules& rules) {
  const std::vector<Turn> turns = RandomAllocationsTurns(rules);
  const Streams streams(1);
  const std::unique_ptr<Peer> peer = bench.make_peer();
  std::vector<Block> live;
  const auto play = [&] {
    Play(*peer, turns, streams[0], live);
    return static_cast<unsigned>(turns.size() / 2);
  };
  Repeat(bench.effort.warming, 0, play);
  return Figures::Of({Repeat(bench.effort.measuring, 0, play)}, Samples());
}

}  // namespace

void RandomAllocations(const Bench& bench) {
  for (std::uint64_t mebibytes : {1, 64, 4096}) {
    const RandomAllocationsRules rules{bench.effort.random_allocations, mebibytes << 20};
    bench.report("RANDOM_ALLOCATIONS, up to " + std::to_string(mebibytes) + " MiB",
                 FiguresOf(bench, rules));
  }
}

}  // namespace cuheap::bench
