// Code of the program that the driver calls: host functions, callbacks of streams, destructors of
// user objects. It may not call the driver: that is NOT_PERMITTED.
// Threads: any. No lock is needed, and CallProgram may be called under the engine's lock.
#pragma once

#include <cuda.h>

namespace cuheap::sim {

void CallProgram(CUhostFn function, void* data);
// The same in the driver's own thread, one after the other; nobody waits for it.
void CallProgramLater(CUhostFn function, void* data);
// Whether the calling thread is inside of such a call.
bool InProgramCode();

}  // namespace cuheap::sim
