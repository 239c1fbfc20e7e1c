#include "allocator/pool/waiting.h"

namespace cuheap::pool {

bool WaitingBlocks::Add(Address address, Bytes bytes, std::span<const StreamId> streams) {
  const SlotId block = blocks_.Add({address, bytes, static_cast<std::uint32_t>(streams.size())});
  if (block == 0) return false;
  bytes_ += bytes;
  for (std::size_t joined = 0; joined < streams.size(); ++joined) {
    if (Join(block, streams[joined])) continue;
    // Its links are the first of the open batches that it joined.
    while (joined-- > 0) {
      BatchRecord& batch = batches_[queues_[FindQueue(streams[joined])].open];
      const SlotId link = batch.first;
      batch.first = links_[link].next;
      --batch.blocks;
      batch.bytes -= bytes;
      links_.Remove(link);
    }
    bytes_ -= bytes;
    blocks_.Remove(block);
    return false;
  }
  return true;
}

bool WaitingBlocks::Join(SlotId block, StreamId stream) {
  const SlotId queue = QueueOf(stream);
  if (queue == 0) return false;
  SlotId& open = queues_[queue].open;
  if (open == 0) {
    BatchRecord batch;
    batch.queue = queue;
    open = batches_.Add(batch);
  }
  if (open == 0) return false;
  const SlotId link = links_.Add({block, batches_[open].first});
  if (link == 0) return false;
  batches_[open].first = link;
  ++batches_[open].blocks;
  batches_[open].bytes += blocks_[block].bytes;
  return true;
}

SlotId WaitingBlocks::FindQueue(StreamId stream) const {
  for (SlotId id = 1; id <= queues_.taken(); ++id)
    if (queues_[id].stream == stream) return id;
  return 0;
}

// Queues without batches are given to new streams.
SlotId WaitingBlocks::QueueOf(StreamId stream) {
  SlotId idle = 0;
  for (SlotId id = 1; id <= queues_.taken(); ++id) {
    const Queue& queue = queues_[id];
    if (queue.stream == stream) return id;
    if (queue.taken == 0 && queue.first == 0 && queue.open == 0) idle = id;
  }
  if (idle == 0) {
    Queue queue;
    queue.stream = stream;
    return queues_.Add(queue);
  }
  queues_[idle].stream = stream;
  return idle;
}

WaitingBlocks::Batch WaitingBlocks::TakeFirst(Queue& queue) {
  const SlotId id = queue.first;
  if (id == 0) return {};
  queue.first = batches_[id].next;
  if (queue.first == 0) queue.last = 0;
  ++queue.taken;
  return {id};
}

WaitingBlocks::Batch WaitingBlocks::TakeOpen(StreamId stream) {
  const SlotId queue = FindQueue(stream);
  if (queue == 0) return {};
  const SlotId open = queues_[queue].open;
  if (open == 0) return {};
  queues_[queue].open = 0;
  ++queues_[queue].taken;
  return {open};
}

WaitingBlocks::Batch WaitingBlocks::TakeOldest(SlotId* cursor) {
  while (*cursor < queues_.taken())
    if (const Batch batch = TakeFirst(queues_[++*cursor])) return batch;
  return {};
}

WaitingBlocks::Batch WaitingBlocks::TakeLargest() {
  SlotId best = 0;
  for (SlotId id = 1; id <= queues_.taken(); ++id) {
    const SlotId first = queues_[id].first;
    if (first == 0) continue;
    if (best == 0 || batches_[queues_[best].first].bytes < batches_[first].bytes) best = id;
  }
  return best == 0 ? Batch{} : TakeFirst(queues_[best]);
}

WaitingBlocks::Batch WaitingBlocks::TakeAny() {
  SlotId cursor = 0;
  if (const Batch closed = TakeOldest(&cursor)) return closed;
  for (SlotId id = 1; id <= queues_.taken(); ++id)
    if (const Batch open = TakeOpen(queues_[id].stream)) return open;
  return {};
}

void WaitingBlocks::Close(Batch batch, EventHandle event) {
  BatchRecord& closed = batches_[batch.id];
  Queue& queue = queues_[closed.queue];
  closed.event = event;
  closed.next = 0;
  if (queue.last != 0)
    batches_[queue.last].next = batch.id;
  else
    queue.first = batch.id;
  queue.last = batch.id;
  --queue.taken;
}

void WaitingBlocks::PutBack(Batch batch) {
  BatchRecord& record = batches_[batch.id];
  Queue& queue = queues_[record.queue];
  --queue.taken;
  if (record.event != EventHandle{}) {
    record.next = queue.first;
    queue.first = batch.id;
    if (queue.last == 0) queue.last = batch.id;
    return;
  }
  if (queue.open == 0) {
    queue.open = batch.id;
    return;
  }
  // Others have joined a new one meanwhile: the two become one.
  BatchRecord& open = batches_[queue.open];
  for (SlotId id = record.first; id != 0;) {
    const SlotId next = links_[id].next;
    links_[id].next = open.first;
    open.first = id;
    id = next;
  }
  open.blocks += record.blocks;
  open.bytes += record.bytes;
  batches_.Remove(batch.id);
}

std::uint32_t WaitingBlocks::OpenBlocks(StreamId stream) const {
  const SlotId queue = FindQueue(stream);
  if (queue == 0 || queues_[queue].open == 0) return 0;
  return batches_[queues_[queue].open].blocks;
}

void WaitingBlocks::Release() {
  blocks_.Release();
  links_.Release();
  batches_.Release();
  queues_.Release();
  bytes_ = {};
}

}  // namespace cuheap::pool
