#include "tools/replay/engine.h"

#include <algorithm>

#include "allocator/driver/accounting_driver.h"
#include "allocator/driver/latency_driver.h"

namespace cuheap::replay {
namespace {

constexpr Bytes kUnit = 2_MiB;

std::uint32_t DevicesOf(const OpStream& stream) {
  std::uint32_t devices = 1;
  for (const Op& op : stream.ops)
    if (op.kind == OpKind::kAllocate) devices = std::max(devices, Value(op.device) + 1);
  return devices;
}

class Player {
 public:
  Player(const OpStream& stream, const PolicyKind& policy, Bytes capacity)
      : stream_(stream),
        accounts_({.devices = DevicesOf(stream), .capacity = capacity}),
        policy_(policy.make(driver_)) {}

  Outcome Play() {
    for (std::size_t i = 0; i < stream_.ops.size() && outcome_.completed(); ++i) {
      const Op& op = stream_.ops[i];
      if (op.kind == OpKind::kAllocate) Allocate(i, op);
      if (op.kind == OpKind::kFree) policy_->Free(op.block);
      if (op.kind == OpKind::kRecordUse) policy_->RecordUse(op.block, op.stream);
    }
    Measure();
    return outcome_;
  }

 private:
  void Allocate(std::size_t i, const Op& op) {
    if (policy_->Allocate(op.block, op.bytes, op.device, op.stream)) return;
    outcome_.failure = Failure{i, op, LiveBefore(i, op.device), accounts_.used(op.device)};
  }

  Bytes LiveBefore(std::size_t end, DeviceId device) const {
    std::vector<Op> births;
    Bytes live{};
    for (std::size_t i = 0; i < end; ++i) {
      const Op& op = stream_.ops[i];
      if (op.kind == OpKind::kAllocate) births.push_back(op);
      if (op.kind == OpKind::kAllocate && op.device == device) live += op.bytes;
      if (op.kind == OpKind::kFree && births[Value(op.block)].device == device)
        live -= births[Value(op.block)].bytes;
    }
    return live;
  }

  void Measure() {
    for (std::uint32_t i = 0; i < DevicesOf(stream_); ++i)
      outcome_.peak_reserved.push_back(accounts_.peak(DeviceId(i)));
    for (std::size_t i = 0; i < kDriverCalls; ++i) {
      const auto call = static_cast<DriverCall>(i);
      outcome_.calls[i] = {driver_.calls(call), driver_.nanoseconds(call)};
    }
  }

  const OpStream& stream_;
  AccountingDriver accounts_;
  LatencyDriver driver_{accounts_};
  std::unique_ptr<Policy> policy_;
  Outcome outcome_;
};

Bytes Largest(const std::vector<Bytes>& bytes) {
  return bytes.empty() ? Bytes() : *std::max_element(bytes.begin(), bytes.end());
}

}  // namespace

Outcome Play(const OpStream& stream, const PolicyKind& policy, Bytes capacity) {
  return Player(stream, policy, capacity).Play();
}

Smallest FindSmallestCapacity(const OpStream& stream, const PolicyKind& policy, Bytes enough,
                              const Outcome& at_enough) {
  Smallest smallest;
  if (!at_enough.completed()) return smallest;
  smallest.capacity = enough.RoundedUpTo(kUnit);
  smallest.outcome = at_enough;
  const auto completes = [&](Bytes capacity) {
    ++smallest.plays;
    Outcome outcome = Play(stream, policy, capacity);
    if (!outcome.completed()) return false;
    smallest.capacity = capacity;
    smallest.outcome = std::move(outcome);
    return true;
  };
  // A device of just what was reserved mostly serves in the same way.
  const Bytes reserved = Largest(at_enough.peak_reserved).RoundedUpTo(kUnit);
  if (reserved < enough) (void)completes(reserved);
  const Bytes live = Largest(FiguresOf(stream).peak_live).RoundedUpTo(kUnit);
  std::uint64_t lowest = live.count() / kUnit.count();  // nothing below it completes
  for (;;) {
    const std::uint64_t known = smallest.capacity->count() / kUnit.count();
    if (lowest >= known) return smallest;
    const std::uint64_t middle = lowest + (known - lowest) / 2;
    if (!completes(Bytes(middle * kUnit.count()))) lowest = middle + 1;
  }
}

Bytes DefaultCapacity(const OpFigures& figures) {
  const Bytes peak = Largest(figures.peak_live);
  return std::max(80_GiB, (peak + peak).RoundedUpTo(kUnit));
}

}  // namespace cuheap::replay
