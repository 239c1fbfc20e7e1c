#include "tools/replay/trace_events.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

#include "tools/replay/op_builder.h"

namespace cuheap::replay {
namespace {

using format::EventKind;
using format::Heap;
using trace::Event;

bool IsBirth(const Event& event) {
  return event.kind == EventKind::kAllocation || event.kind == EventKind::kSegmentMap;
}

bool IsDeath(const Event& event) {
  return event.kind == EventKind::kFree || event.kind == EventKind::kSegmentUnmap;
}

class TraceEvents {
 public:
  explicit TraceEvents(const trace::Trace& trace) : trace_(trace) {}

  Result<OpStream> Read(const std::string& heap) {
    if (trace_.events.empty())
      return Error{ErrorKind::kAbsent,
                   trace_.path + ": no events; cuheap run --mode full records them"};
    const std::optional<Heap> chosen = Choose(heap);
    if (!chosen)
      return Error{ErrorKind::kAbsent,
                   fmt::format("{}: no events of a heap '{}'", trace_.path, heap)};
    heap_ = *chosen;
    FindFailedFrees();
    AddEarlier();
    for (std::size_t i = 0; i < trace_.events.size(); ++i)
      if (!failed_[i]) Add(trace_.events[i]);
    Note();
    return builder_.Take();
  }

 private:
  bool Has(Heap heap) const {
    return std::any_of(trace_.events.begin(), trace_.events.end(),
                       [heap](const Event& event) { return event.heap == heap && IsBirth(event); });
  }

  std::optional<Heap> Choose(const std::string& name) const {
    for (const Event& event : trace_.events)
      if (!name.empty() && IsBirth(event) && trace_.dictionary.heap_name(event.heap) == name)
        return event.heap;
    if (!name.empty()) return {};
    return Has(Heap::k_torch) ? Heap::k_torch : Heap::k_driver;
  }

  StreamHandle StreamOf(std::uint16_t id, std::uint8_t device) const {
    if (id == 0 || id > trace_.dictionary.stream_count()) return {};
    const std::uint64_t handle = trace_.dictionary.stream(id).handle;
    return StreamHandle(handle * OpStream::kMostDevices + device);
  }

  void FindFailedFrees() {
    failed_.resize(trace_.events.size());
    std::map<std::pair<std::uint8_t, std::uint64_t>, std::size_t> latest;
    for (std::size_t i = 0; i < trace_.events.size(); ++i) {
      const Event& event = trace_.events[i];
      if (event.heap != heap_) continue;
      if (IsDeath(event)) latest[{event.device, event.address}] = i;
      if (event.kind != EventKind::kFreeFailed) continue;
      const auto death = latest.find({event.device, event.address});
      if (death != latest.end()) failed_[death->second] = true;
    }
  }

  // Blocks that were born before the first event: the freed ones are known from the event of their
  // free, the others from their record.
  void AddEarlier() {
    std::map<std::pair<std::uint8_t, std::uint64_t>, bool> born;
    for (std::size_t i = 0; i < trace_.events.size(); ++i) {
      const Event& event = trace_.events[i];
      if (event.heap != heap_ || !(IsBirth(event) || (IsDeath(event) && !failed_[i]))) continue;
      const auto [place, first] = born.try_emplace({event.device, event.address}, true);
      if (first && IsDeath(event)) AddEarlier(event);
    }
    const std::uint64_t begin = trace_.events.front().time;
    for (const trace::Block& block : trace_.blocks) {
      if (block.heap != heap_ || block.birth_time >= begin || block.free_time != 0) continue;
      if (!born.contains({block.device, block.address}))
        AddEarlier({.address = block.address,
                    .bytes = block.live_bytes(),
                    .stream = block.stream,
                    .device = block.device,
                    .heap = heap_});
    }
  }

  void AddEarlier(const Event& event) {
    earlier_ += builder_
                    .Allocate(DeviceId(event.device), Address(event.address), Bytes(event.bytes),
                              StreamOf(event.stream, event.device))
                    .empty();
  }

  // What cannot be (the file may be damaged, births may have been dropped) is passed over and
  // counted.
  void Add(const Event& event) {
    const DeviceId device{event.device};
    const Address address{event.address};
    if (event.kind == EventKind::kStep) builder_.Step();
    if (event.heap != heap_) return;
    std::string wrong;
    if (IsBirth(event))
      wrong = builder_.Allocate(device, address, Bytes(event.bytes),
                                StreamOf(event.stream, event.device));
    if (IsDeath(event)) wrong = builder_.Free(device, address);
    if (event.kind == EventKind::kRecordUse)
      wrong = builder_.RecordUse(device, address, StreamOf(event.stream, event.device));
    passed_over_ += !wrong.empty();
  }

  void Note() {
    builder_.Note(fmt::format("blocks of the heap {}", trace_.dictionary.heap_name(heap_)));
    if (heap_ == Heap::k_torch)
      builder_.Note(
          "sizes are those of blocks, in steps of 512 bytes: neither requests nor streams are seen "
          "there");
    if (earlier_ > 0)
      builder_.Note(fmt::format("{} blocks are older than the events and stand at their beginning",
                                earlier_));
    if (trace_.dropped_events > 0)
      builder_.Note(fmt::format("{} events were not kept", trace_.dropped_events));
    if (passed_over_ > 0)
      builder_.Note(fmt::format("{} events contradict others and are left out", passed_over_));
  }

  const trace::Trace& trace_;
  Heap heap_{};
  std::vector<bool> failed_;  // by event: a free that did not happen
  std::uint64_t earlier_ = 0;
  std::uint64_t passed_over_ = 0;
  OpBuilder builder_;
};

}  // namespace

Result<OpStream> ReadTraceEvents(const trace::Trace& trace, const std::string& heap) {
  return TraceEvents(trace).Read(heap);
}

}  // namespace cuheap::replay
