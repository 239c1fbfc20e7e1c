#include "tests/apps/churn.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <sstream>
#include <thread>

#include "tests/apps/live_blocks.h"

namespace cuheap::apps {
namespace {

constexpr unsigned char kLastUse = 0xDD;  // no block's value

struct Block {
  char* address;
  std::size_t bytes;
  cudaStream_t stream;
  unsigned char value;
};

class Worker {
 public:
  Worker(const Heap& heap, const ChurnOptions& options, const std::vector<cudaStream_t>& streams,
         LiveBlocks& live, unsigned index)
      : heap_(heap),
        options_(options),
        streams_(streams),
        live_(live),
        random_(options.seed * 1000 + index) {}

  void Run() {
    Check(cudaEventCreateWithFlags(&event_, cudaEventDisableTiming), "cudaEventCreate");
    for (unsigned turn = 0; turn < options_.turns; ++turn) {
      const bool full = held_.size() >= options_.held;
      if (held_.empty() || (!full && Below(2) == 0)) {
        Allocate();
      } else {
        ReleaseOne();
      }
    }
    while (!held_.empty()) ReleaseOne();
    Check(cudaEventDestroy(event_), "cudaEventDestroy");
  }

 private:
  std::size_t Below(std::size_t end) {
    return std::uniform_int_distribution<std::size_t>(0, end - 1)(random_);
  }
  cudaStream_t AnyStream() { return streams_[Below(streams_.size())]; }

  std::size_t AnySize() {
    const double doublings = std::log2(static_cast<double>(options_.largest));
    const double exponent = std::uniform_real_distribution<double>(0, doublings)(random_);
    return static_cast<std::size_t>(std::exp2(exponent));
  }

  void Check(cudaError_t error, const char* call) {
    if (error != cudaSuccess) live_.Report(std::string(call) + ": " + cudaGetErrorName(error));
  }

  void Complain(const Block& block, const char* what) {
    std::ostringstream text;
    text << "block " << static_cast<void*>(block.address) << " of " << block.bytes << " bytes "
         << what;
    live_.Report(text.str());
  }

  void Allocate() {
    Block block{nullptr, AnySize(), AnyStream(), static_cast<unsigned char>(1 + Below(100))};
    block.address = static_cast<char*>(heap_.allocate(block.bytes, block.stream));
    if (block.address == nullptr) {
      Complain(block, "was refused");
      return;
    }
    live_.Add(block.address, block.bytes);
    if (reinterpret_cast<std::uintptr_t>(block.address) % options_.alignment != 0)
      Complain(block, "is not aligned");
    Check(cudaMemsetAsync(block.address, block.value, block.bytes, block.stream), "fill");
    held_.push_back(block);
  }

  void ReleaseOne() {
    std::swap(held_[Below(held_.size())], held_.back());
    const Block block = held_.back();
    held_.pop_back();
    std::vector<unsigned char> contents(block.bytes);
    Check(cudaMemcpyAsync(contents.data(), block.address, block.bytes, cudaMemcpyDeviceToHost,
                          block.stream),
          "read back");
    Check(cudaStreamSynchronize(block.stream), "cudaStreamSynchronize");
    if (std::any_of(contents.begin(), contents.end(),
                    [&](unsigned char byte) { return byte != block.value; }))
      Complain(block, "lost its contents");
    Check(cudaMemsetAsync(block.address, kLastUse, block.bytes, block.stream), "last use");
    live_.Remove(block.address);
    heap_.deallocate(block.address, block.bytes, StreamOfRelease(block));
  }

  cudaStream_t StreamOfRelease(const Block& block) {
    if (options_.release == Release::kOnOwnStream) return block.stream;
    cudaStream_t stream = AnyStream();
    Check(cudaEventRecord(event_, block.stream), "cudaEventRecord");
    Check(cudaStreamWaitEvent(stream, event_, 0), "cudaStreamWaitEvent");
    return stream;
  }

  const Heap& heap_;
  const ChurnOptions& options_;
  const std::vector<cudaStream_t>& streams_;
  LiveBlocks& live_;
  std::mt19937 random_;
  cudaEvent_t event_ = nullptr;
  std::vector<Block> held_;
};

}  // namespace

std::vector<std::string> Churn(const Heap& heap, const ChurnOptions& options) {
  LiveBlocks live;
  const auto check = [&](cudaError_t error) {
    if (error != cudaSuccess) live.Report(cudaGetErrorName(error));
  };
  std::vector<cudaStream_t> streams(options.streams);
  for (cudaStream_t& stream : streams)
    check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  const std::vector<cudaStream_t> used =
      streams.empty() ? std::vector<cudaStream_t>{cudaStreamPerThread} : streams;
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < options.threads; ++i)
    threads.emplace_back([&, i] { Worker(heap, options, used, live, i).Run(); });
  for (std::thread& thread : threads) thread.join();
  for (cudaStream_t stream : streams) {
    check(cudaStreamSynchronize(stream));
    check(cudaStreamDestroy(stream));
  }
  return live.Faults();
}

}  // namespace cuheap::apps
