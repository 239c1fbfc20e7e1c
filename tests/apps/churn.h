// Random work against a heap of device memory: threads on shared streams allocate blocks, fill them
// with a value of their own, and before they give one back they look whether the value is still
// there. The last use of a block is under way on its stream when the heap gets it back.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace cuheap::apps {

// The heap under test; its functions are called from all threads at once.
struct Heap {
  std::function<void*(std::size_t bytes, cudaStream_t stream)> allocate;  // null: no memory
  std::function<void(void* block, std::size_t bytes, cudaStream_t stream)> deallocate;
};

enum class Release {
  kOnOwnStream,
  kOnAnyStream,  // one that was made to wait for the block's own
};

struct ChurnOptions {
  std::uint32_t seed = 1;
  unsigned threads = 4;
  unsigned turns = 600;             // of each thread
  unsigned streams = 3;             // shared by all threads; 0: the default stream of each thread
  unsigned held = 12;               // blocks that a thread holds at most
  std::size_t largest = 512 << 10;  // bytes of a block, of which small ones are as likely as large
  std::size_t alignment = 256;
  Release release = Release::kOnOwnStream;
};

// Everything the threads noticed: overlap, alignment, lost contents, refused calls. Empty is right.
// All blocks are given back when it returns.
std::vector<std::string> Churn(const Heap& heap, const ChurnOptions& options);

}  // namespace cuheap::apps
