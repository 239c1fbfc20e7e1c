#include "bench/pool/fixture.h"

#include <cstdio>
#include <cstdlib>

namespace cuheap::bench {

Streams::Streams(unsigned count) : streams_(count) {
  for (cudaStream_t& stream : streams_) cudaStreamCreate(&stream);
}

Streams::~Streams() {
  for (cudaStream_t stream : streams_) cudaStreamDestroy(stream);
}

void Refused(std::size_t bytes) {
  std::fprintf(stderr, "the peer refuses %zu bytes\n", bytes);
  std::_Exit(1);  // other threads are at work
}

}  // namespace cuheap::bench
