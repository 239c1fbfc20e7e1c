// Freed blocks that streams are not past yet. Each waits for events on the streams that use it; one
// event serves a batch of blocks, and batches of one stream are reached in order, so that only the
// oldest is asked about.
//
//   stream 7:  | batch: event, blocks | batch: event, blocks | open: blocks, no event yet |
//   stream 9:  | batch: event, blocks |
//
// Whoever takes a batch has it alone. An open batch that was taken gets its event recorded, and is
// closed then: no block is ever taken for free before its event exists.
//
// Laws: 1. A block is free when all its batches were reached.
//       2. Batches of a stream become free in the order in which they were closed.
// No driver call here. Threads: none of its own; the device's lock.
#pragma once

#include <cstdint>
#include <span>

#include "allocator/base/ids.h"
#include "allocator/base/slot_table.h"
#include "allocator/driver/driver.h"

namespace cuheap::pool {

class WaitingBlocks {
 public:
  struct Batch {
    SlotId id = 0;
    explicit operator bool() const { return id != 0; }
  };

  // A freed block waits for what is submitted to these streams until their open batches get an
  // event. False: no memory; nothing changed.
  [[nodiscard]] bool Add(Address address, Bytes bytes, std::span<const StreamId> streams);

  // The open batch of a stream; none: it is empty.
  Batch TakeOpen(StreamId stream);
  // The oldest closed batch of the next stream from `*cursor` on (0 at first); none: no stream is
  // left.
  Batch TakeOldest(SlotId* cursor);
  // Among the oldest ones that with the most bytes.
  Batch TakeLargest();
  // Any batch, open ones too.
  Batch TakeAny();

  // Behind the other closed ones.
  void Close(Batch batch, EventHandle event);
  // As if it had not been taken: to the front, or open again.
  void PutBack(Batch batch);
  // The batch is gone. Calls visit(Address) for each block that no longer waits for anything, and
  // returns the event.
  template <class Visit>
  EventHandle Reach(Batch batch, Visit&& visit) {
    const BatchRecord reached = batches_[batch.id];
    batches_.Remove(batch.id);
    --queues_[reached.queue].taken;
    for (SlotId id = reached.first; id != 0;) {
      const Link link = links_[id];
      links_.Remove(id);
      id = link.next;
      Block& block = blocks_[link.block];
      if (--block.streams != 0) continue;
      const Address address = block.address;
      bytes_ -= block.bytes;
      blocks_.Remove(link.block);
      visit(address);
    }
    return reached.event;
  }

  EventHandle EventOf(Batch batch) const { return batches_[batch.id].event; }
  // How many blocks have joined the open batch of a stream.
  std::uint32_t OpenBlocks(StreamId stream) const;

  Bytes bytes() const { return bytes_; }
  std::uint32_t blocks() const { return blocks_.taken(); }
  void Release();

 private:
  struct Block {
    Address address{};
    Bytes bytes;
    std::uint32_t streams = 0;  // batches it is in
  };
  struct Link {
    SlotId block = 0;
    SlotId next = 0;
  };
  struct BatchRecord {
    SlotId queue = 0;
    SlotId first = 0;  // of its links
    std::uint32_t blocks = 0;
    SlotId next = 0;
    Bytes bytes;
    EventHandle event{};  // none: it is open
  };
  struct Queue {
    StreamId stream{};
    SlotId first = 0;  // closed batches, the oldest first
    SlotId last = 0;
    SlotId open = 0;          // a batch
    std::uint32_t taken = 0;  // batches that somebody has
  };

  SlotId FindQueue(StreamId stream) const;
  SlotId QueueOf(StreamId stream);
  bool Join(SlotId block, StreamId stream);
  Batch TakeFirst(Queue& queue);

  static constexpr std::uint32_t kMostQueues = 1u << 16;
  SlotTable<Block> blocks_{1u << 20};
  SlotTable<Link> links_{1u << 21};
  SlotTable<BatchRecord> batches_{1u << 20};
  SlotTable<Queue> queues_{kMostQueues};  // never removed: 1 .. taken()
  Bytes bytes_;
};

}  // namespace cuheap::pool
