// Freed blocks that other streams may still use: an event on each of those streams says when they
// are past it. Looked at in the order of the frees, as PyTorch's allocator does.
//
// Threads: none of its own.
#pragma once

#include <deque>
#include <map>
#include <vector>

#include "allocator/driver/driver.h"
#include "tools/replay/op_stream.h"

namespace cuheap::replay {

class PendingFrees {
 public:
  explicit PendingFrees(Driver& driver) : driver_(driver) {}

  // Records the events. Where none can be had, the device is waited for instead.
  void Add(BlockNumber block, DeviceId device, const std::vector<StreamHandle>& streams);

  enum class Patience { kPoll, kWait };
  // ready(BlockNumber) for each block of the device whose streams are past it.
  template <class Ready>
  void Drain(DeviceId device, Patience patience, Ready&& ready) {
    std::deque<Pending>& queue = queues_[device];
    while (!queue.empty() && IsOver(queue.front(), patience)) {
      const BlockNumber block = queue.front().block;
      queue.pop_front();
      ready(block);
    }
  }

 private:
  struct Pending {
    BlockNumber block{};
    DeviceId device{};
    std::vector<EventHandle> events;
  };

  bool RecordOn(DeviceId device, StreamHandle stream, Pending* pending);
  bool IsOver(Pending& pending, Patience patience);

  Driver& driver_;
  std::map<DeviceId, std::deque<Pending>> queues_;
  std::map<DeviceId, std::vector<EventHandle>> spare_;
};

}  // namespace cuheap::replay
