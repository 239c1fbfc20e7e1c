// Under the seeded clock the threads that call the driver go on one at a time: each waits at its
// next call until it is chosen, by the seed. What a thread does between two calls is not divided.
//
// Laws: 1. A choice is made when every thread that has called the driver waits at a call, is
//          blocked in the kernel (on a lock that another one holds, say), or has ended. So the same
//          seed makes the same order in a program whose threads meet in calls and locks only, if
//          each makes a call between two locks: who gets a lock that is let go and taken again
//          without one, the kernel decides. Tests put cuCtxGetDevice there.
//       2. A thread that computes for long without a call holds the others up for kPatience at
//          most; then the order is by chance.
// Threads: any. REQUIRES: no lock of the simulated device is held.
#pragma once

#include <cstddef>

namespace cuheap::sim {

// The calling thread waits for its turn.
void TakeTurn();

// No choice is made before so many threads have called; they are told apart by `place`, a number
// that each thread names itself, or else by the order of their first calls.
void ExpectThreads(std::size_t count);
void NameThread(int place);

}  // namespace cuheap::sim
