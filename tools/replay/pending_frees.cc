#include "tools/replay/pending_frees.h"

namespace cuheap::replay {

void PendingFrees::Add(BlockNumber block, DeviceId device,
                       const std::vector<StreamHandle>& streams) {
  Pending pending{.block = block, .device = device, .events = {}};
  for (const StreamHandle stream : streams)
    if (!RecordOn(device, stream, &pending)) (void)driver_.WaitForDevice(device);
  queues_[device].push_back(std::move(pending));
}

bool PendingFrees::RecordOn(DeviceId device, StreamHandle stream, Pending* pending) {
  std::vector<EventHandle>& spare = spare_[device];
  EventHandle event{};
  if (!spare.empty()) {
    event = spare.back();
    spare.pop_back();
  } else if (!driver_.CreateEvent(device, stream, &event).ok()) {
    return false;
  }
  if (!driver_.Record(device, stream, event).ok()) {
    spare.push_back(event);
    return false;
  }
  pending->events.push_back(event);
  return true;
}

bool PendingFrees::IsOver(Pending& pending, Patience patience) {
  while (!pending.events.empty()) {
    const EventHandle event = pending.events.back();
    const DriverStatus status =
        patience == Patience::kPoll ? driver_.Query(event) : driver_.Wait(event);
    if (status.code == DriverCode::kNotReady) return false;
    spare_[pending.device].push_back(event);
    pending.events.pop_back();
  }
  return true;
}

}  // namespace cuheap::replay
