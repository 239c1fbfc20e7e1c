#include <algorithm>
#include <barrier>
#include <thread>

#include "bench/pool/fixture.h"
#include "bench/pool/operations.h"
#include "bench/pool/workloads.h"

namespace cuheap::bench {
namespace {

constexpr std::uint32_t kExchanges = 1 << 16;  // then the stream begins again
constexpr unsigned kPairsBetweenLooks = 32;
constexpr std::size_t kApart = 128;  // bytes at which two threads do not disturb each other

struct SteadyCase {
  std::uint32_t live;
  unsigned threads;
  unsigned streams;  // of each thread
  bool shared;       // all threads have the same streams
};

std::string Name(const SteadyCase& c) {
  std::string name = "steady, " + std::to_string(c.live) + " live, " + std::to_string(c.threads) +
                     (c.threads == 1 ? " thread" : " threads");
  if (c.streams > 1) name += ", " + std::to_string(c.streams) + " streams each";
  if (c.shared) name += ", shared stream";
  return name;
}

struct Block {
  void* address;
  std::uint32_t bytes;
  std::uint32_t stream;
};

// The blocks of one thread and the streams it goes round.
class alignas(kApart) Holder {
 public:
  Holder(Peer& peer, const SteadyCase& c, const Streams& streams, unsigned thread)
      : peer_(peer), exchanges_(Exchanges(1 + thread, c.live, kExchanges)), blocks_(c.live) {
    const unsigned first = c.shared ? 0 : thread * c.streams;
    for (unsigned i = 0; i < c.streams; ++i) streams_.push_back(streams[first + i]);
  }

  void Fill() {
    for (std::size_t i = 0; i < blocks_.size(); ++i) Put(blocks_[i], exchanges_[i].bytes);
  }
  void Drain() {
    for (const Block& block : blocks_) Give(block);
  }
  void Pair() {
    const Exchange& exchange = exchanges_[turn_++ % kExchanges];
    Block& block = blocks_[exchange.slot];
    Give(block);
    Put(block, exchange.bytes);
  }
  unsigned Pairs() {
    for (unsigned i = 0; i < kPairsBetweenLooks; ++i) Pair();
    return kPairsBetweenLooks;
  }

 private:
  void Give(const Block& block) { peer_.Free(block.address, block.bytes, streams_[block.stream]); }
  void Put(Block& block, std::uint32_t bytes) {
    stream_ = stream_ + 1 == streams_.size() ? 0 : stream_ + 1;
    block = {Take(peer_, bytes, streams_[stream_]), bytes, stream_};
  }

  Peer& peer_;
  std::vector<Exchange> exchanges_;
  std::vector<Block> blocks_;
  std::vector<cudaStream_t> streams_;
  std::uint32_t turn_ = 0;
  std::uint32_t stream_ = 0;
};

struct alignas(kApart) ThreadFigures {
  Window window;
  Samples samples;
};

// Threads go from one part to the next together, so that each is measured among working ones.
void Work(Holder& holder, std::barrier<>& together, const SteadyCase& c, const Effort& effort,
          ThreadFigures& figures) {
  cudaSetDevice(0);
  const auto pairs = [&holder] { return holder.Pairs(); };
  holder.Fill();
  together.arrive_and_wait();
  Repeat(effort.warming, c.live, pairs);
  together.arrive_and_wait();
  figures.window = Repeat(effort.measuring, 0, pairs);
  together.arrive_and_wait();
  Repeat(effort.sampling, 0, [&] {
    figures.samples.Time([&holder] { holder.Pair(); });
    return 1U;
  });
  together.arrive_and_wait();
  holder.Drain();
}

Figures FiguresOf(const Bench& bench, const SteadyCase& c) {
  const Streams streams(c.shared ? c.streams : c.streams * c.threads);
  const std::unique_ptr<Peer> peer = bench.make_peer();
  std::vector<Holder> holders;
  for (unsigned i = 0; i < c.threads; ++i) holders.emplace_back(*peer, c, streams, i);
  std::barrier<> together(c.threads);
  std::vector<ThreadFigures> figures(c.threads);
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < c.threads; ++i)
    threads.emplace_back([&, i] { Work(holders[i], together, c, bench.effort, figures[i]); });
  for (std::thread& thread : threads) thread.join();

  std::vector<Window> windows;
  Samples samples;
  for (const ThreadFigures& thread : figures) {
    windows.push_back(thread.window);
    samples.Add(thread.samples);
  }
  return Figures::Of(windows, samples);
}

}  // namespace

void Steady(const Bench& bench) {
  std::vector<SteadyCase> cases;
  const Effort& effort = bench.effort;
  for (std::uint32_t live : effort.live)
    for (unsigned threads : effort.threads) cases.push_back({live, threads, 1, false});
  for (unsigned threads : effort.threads) cases.push_back({effort.usual_live, threads, 2, false});
  for (unsigned threads : effort.threads)
    if (threads > 1) cases.push_back({effort.usual_live, threads, 1, true});
  for (const SteadyCase& c : cases) bench.report(Name(c), FiguresOf(bench, c));
}

}  // namespace cuheap::bench
