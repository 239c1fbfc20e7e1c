// The work of a stand-in: one operation in the stream of the library's handle, which computes
// nothing but is there. It has a place in the order of the stream, becomes a node of a capture, and
// the race oracle sees what it touches. A stream is as the driver takes it: 0 is the legacy default
// stream of the current context.
// Threads: any. No lock is held.
#pragma once

#include <cstddef>

#include "tests/sim/standins/standin.h"
#include "tests/sim/standins/touched.h"

namespace cuheap::sim_standin {

// A CUresult; not 0 where it touches device memory that nobody has allocated.
int Enqueue(Stream stream, const char* name, const Touched& touched);

// Sets device words in stream order, such as the status words that a solver leaves in device
// memory. A CUresult. Nothing to do without an address.
int FillDeviceWords(void* words, unsigned int value, std::size_t count, Stream stream);
inline int ZeroDeviceWords(void* words, std::size_t count, Stream stream) {
  return FillDeviceWords(words, 0, count, stream);
}

// What a call waits for that gives its result to the host.
int WaitForStream(Stream stream);

}  // namespace cuheap::sim_standin
