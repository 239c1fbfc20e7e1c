// Blocks of a pool whose stream-ordered free has not been reached, or that a pool without
// opportunistic reuse keeps apart until a synchronisation: who may have them already.
//
// Laws (the documented reuse policies of a pool):
//   1. The stream that freed a block may have it at once.
//   2. A stream that comes after the free may have it, if the pool follows event dependencies.
//   3. Anybody may have it once the free is done, if the pool allows opportunistic reuse.
//   4. With internal dependencies anybody may have it who is made to wait for the free.
// Threads: callers hold the engine's lock; the queue lock is taken inside.
#pragma once

#include <cstdint>
#include <list>
#include <optional>

#include "tests/sim/engine/segmented_heap.h"
#include "tests/sim/engine/work_queue.h"

namespace cuheap::sim {

struct ReusePolicy {
  bool follow_events = true;
  bool opportunistic = true;
  bool internal_dependencies = true;
};

class PendingFrees {
 public:
  struct Reused {
    std::uintptr_t address = 0;
    TicketPtr wait_for;  // none: nothing to wait for
  };

  // `free`: none where work is done at once.
  void Add(std::uintptr_t address, std::uint64_t bytes, std::uint64_t stream_id, TicketPtr free);
  // Laws 1 and 2, the smallest block that is large enough; the rest of it stays pending.
  std::optional<Reused> Take(std::uint64_t bytes, Stream* stream, const ReusePolicy& policy);
  // Law 4.
  std::optional<Reused> TakeByWaiting(std::uint64_t bytes, const ReusePolicy& policy);
  bool empty() const { return blocks_.empty(); }
  // Of blocks whose free is done.
  std::uint64_t DoneBytes() const;
  // Law 3: what is done goes back to the heap. At a synchronisation it does whatever the policy.
  void ReturnDone(SegmentedHeap* heap);

 private:
  struct Block {
    std::uintptr_t address = 0;
    std::uint64_t bytes = 0;
    std::uint64_t stream_id = 0;
    TicketPtr free;
    bool IsDone() const { return free == nullptr || TimeOf(free) != 0; }
  };
  using Blocks = std::list<Block>;
  Reused Cut(Blocks::iterator block, std::uint64_t bytes);

  Blocks blocks_;
};

}  // namespace cuheap::sim
