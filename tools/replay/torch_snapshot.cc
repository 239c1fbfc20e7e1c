#include "tools/replay/torch_snapshot.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "tools/replay/op_builder.h"
#include "tools/replay/pickle.h"

namespace cuheap::replay {
namespace {

struct Event {
  OpKind kind{};
  DeviceId device{};
  Address address{};
  Bytes bytes{};
  StreamHandle stream{};
  std::uint64_t time = 0;  // microseconds; all 0 where the snapshot has none
};

class Snapshot {
 public:
  explicit Snapshot(const Pickle& pickle) : pickle_(pickle) {}

  Result<OpStream> Read() {
    const std::optional<Pickle::Handle> traces = pickle_.Find(pickle_.root(), "device_traces");
    if (!traces) return Error{ErrorKind::kForeign, "no device_traces: not a snapshot of PyTorch's"};
    const auto& devices = pickle_.Items(*traces);
    for (std::size_t i = 0; i < devices.size(); ++i) {
      if (pickle_.Items(devices[i]).empty()) continue;
      if (i >= OpStream::kMostDevices)
        return Error{ErrorKind::kCorrupt, fmt::format("device {} is beyond the sixteenth", i)};
      const std::string wrong = ReadDevice(DeviceId(i), devices[i]);
      if (!wrong.empty()) return Error{ErrorKind::kCorrupt, wrong};
    }
    if (events_.empty())
      return Error{ErrorKind::kAbsent, "no history: torch.cuda.memory._record_memory_history()"};
    ReadSegments();
    return Build();
  }

 private:
  using Place = std::pair<DeviceId, Address>;

  std::optional<std::uint64_t> Number(Pickle::Handle dictionary, std::string_view key) const {
    const std::optional<Pickle::Handle> value = pickle_.Find(dictionary, key);
    return value ? pickle_.Integer(*value) : std::nullopt;
  }

  std::optional<std::string_view> Text(Pickle::Handle dictionary, std::string_view key) const {
    const std::optional<Pickle::Handle> value = pickle_.Find(dictionary, key);
    return value ? pickle_.Text(*value) : std::nullopt;
  }

  std::string ReadDevice(DeviceId device, Pickle::Handle history) {
    std::size_t number = 0;
    last_time_ = 0;
    for (const Pickle::Handle entry : pickle_.Items(history)) {
      const std::string wrong = ReadEvent(device, entry);
      if (!wrong.empty())
        return fmt::format("device {}, event {}: {}", Value(device), number, wrong);
      ++number;
    }
    return {};
  }

  // Segments, snapshots and failures are PyTorch's own affairs.
  std::string ReadEvent(DeviceId device, Pickle::Handle entry) {
    const std::optional<std::string_view> action = Text(entry, "action");
    if (!action) return "no action";
    const bool birth = *action == "alloc";
    if (!birth && *action != "free_requested") return {};
    const std::optional<std::uint64_t> address = Number(entry, "addr");
    const std::optional<std::uint64_t> size = Number(entry, "size");
    const std::optional<std::uint64_t> stream = Number(entry, "stream");
    if (!address || !size || !stream) return "addr, size and stream are wanted, as integers";
    if (*size > OpStream::kMostBytes.count()) return fmt::format("no block has {} bytes", *size);
    Event event{.kind = birth ? OpKind::kAllocate : OpKind::kFree,
                .device = device,
                .address = Address(*address),
                .bytes = Bytes(std::max<std::uint64_t>(*size, 1)),
                .stream = StreamHandle(*stream),
                .time = std::max(Number(entry, "time_us").value_or(0), last_time_)};
    last_time_ = event.time;
    const Place place{device, event.address};
    if (birth) {
      live_.insert(place);
    } else if (live_.erase(place) == 0) {
      TakeAsEarlier(event);
    }
    events_.push_back(event);
    return {};
  }

  void TakeAsEarlier(Event event) {
    event.kind = OpKind::kAllocate;
    event.time = 0;
    earlier_.push_back(event);
  }

  // What lives at the end and was never seen to begin lived all the time.
  void ReadSegments() {
    const std::optional<Pickle::Handle> segments = pickle_.Find(pickle_.root(), "segments");
    if (!segments) return;
    for (const Pickle::Handle segment : pickle_.Items(*segments)) {
      const std::optional<std::uint64_t> device = Number(segment, "device");
      const std::optional<Pickle::Handle> blocks = pickle_.Find(segment, "blocks");
      if (!device || *device >= OpStream::kMostDevices || !blocks) continue;
      for (const Pickle::Handle block : pickle_.Items(*blocks))
        ReadBlock(DeviceId(*device), Number(segment, "stream").value_or(0), block);
    }
  }

  void ReadBlock(DeviceId device, std::uint64_t stream, Pickle::Handle block) {
    const std::optional<std::uint64_t> address = Number(block, "address");
    std::optional<std::uint64_t> size = Number(block, "requested_size");
    if (!size) size = Number(block, "size");
    if (!address || !size || Text(block, "state") != "active_allocated") return;
    if (*size == 0 || *size > OpStream::kMostBytes.count()) return;
    if (!live_.insert({device, Address(*address)}).second) return;
    TakeAsEarlier({.device = device,
                   .address = Address(*address),
                   .bytes = Bytes(*size),
                   .stream = StreamHandle(stream)});
  }

  Result<OpStream> Build() {
    std::stable_sort(events_.begin(), events_.end(),
                     [](const Event& a, const Event& b) { return a.time < b.time; });
    OpBuilder builder;
    for (const std::vector<Event>* list : {&earlier_, &events_}) {
      for (const Event& event : *list) {
        const std::string wrong =
            event.kind == OpKind::kAllocate
                ? builder.Allocate(event.device, event.address, event.bytes, event.stream)
                : builder.Free(event.device, event.address);
        if (!wrong.empty()) return Error{ErrorKind::kCorrupt, wrong};
      }
    }
    if (!earlier_.empty())
      builder.Note(fmt::format("{} blocks are older than the history and stand at its beginning",
                               earlier_.size()));
    return builder.Take();
  }

  const Pickle& pickle_;
  std::uint64_t last_time_ = 0;  // of the device that is read: its order is kept
  std::set<Place> live_;
  std::vector<Event> earlier_;
  std::vector<Event> events_;
};

}  // namespace

Result<OpStream> ReadTorchSnapshot(std::string_view bytes) {
  const Result<Pickle> pickle = Pickle::Read(bytes);
  if (!pickle.ok()) return pickle.error();
  return Snapshot(*pickle).Read();
}

}  // namespace cuheap::replay
