// Steps, kept instants, marks, and the driver's figures.
#include <algorithm>

#include "allocator/ledger/ledger_state.h"

namespace cuheap {

using format::InstantKind;
using format::MarkKind;
using format::Signal;

namespace {

constexpr Bytes kSmallestWindow = 64_MiB;  // of the byte clock
constexpr std::size_t kLongestMark = 200;

}  // namespace

bool Ledger::Impl::Tick(Signal signal) {
  const std::uint64_t now = Now();
  const StepClock::Effect effect = step_clock.Tick(signal, now);
  if (effect == StepClock::Effect::kNone) return false;
  if (effect == StepClock::Effect::kClockChanged)
    AddMark(MarkKind::kClockChanged, now, static_cast<std::uint64_t>(signal));
  Keep({.kind = InstantKind::kStepEnd, .requested = {}}, now);
  if (events.on()) [[unlikely]]
    events.Add({.time = now, .kind = format::EventKind::kStep});
  return true;
}

// One window per max(64 MiB, peak live) of bytes allocated; the tick stands before the birth that
// completes it.
[[gnu::hot]] void Ledger::Impl::ByteClock(const Birth& birth) {
  if (!CountsAsLive(birth.heap, birth.flags)) return;
  window_bytes += birth.block_bytes.count();
  if (window_bytes < std::max(kSmallestWindow, live.peak()).count()) return;
  window_bytes = 0;
  Tick(Signal::k_bytes);
}

bool Ledger::Tick(Signal signal) {
  const Impl::Section section(impl_, Impl::Section::Kind::kEvent);
  return section && section->Tick(signal);
}

void Ledger::Mark(std::string_view name) {
  {
    const Impl::Section section(impl_, Impl::Section::Kind::kEvent);
    if (!section) return;
    const std::uint64_t now = section->Now();
    const std::uint32_t id = section->InternText(name.substr(0, kLongestMark));
    section->AddMark(MarkKind::kUser, now, 0, id);
    if (!section->Keep({.kind = InstantKind::kMark, .name = id, .requested = {}}, now))
      section->header().dropped.instants.fetch_add(1, std::memory_order_relaxed);
  }
  if (impl_->file.storage() == format::Storage::kPrivate) Checkpoint();
}

void Ledger::OutOfMemory(DeviceId device, Bytes requested) {
  const Impl::Section section(impl_, Impl::Section::Kind::kEvent);
  if (!section) return;
  const bool known = Value(device) < format::kMaxDevices;
  const std::uint8_t index = known ? static_cast<std::uint8_t>(device) : Impl::kNoDevice;
  const std::uint64_t now = section->Now();
  section->AddMark(MarkKind::kOutOfMemory, now, requested.count(), 0, index);
  const InstantKind kind = section->seen_oom ? InstantKind::kLastOom : InstantKind::kFirstOom;
  section->seen_oom = true;
  section->Keep({.kind = kind, .device = index, .requested = requested}, now);
}

void Ledger::UsedSample(DeviceId device, Bytes used, Bytes total) {
  const Impl::Section section(impl_, Impl::Section::Kind::kEvent);
  if (!section || Value(device) >= format::kMaxDevices) return;
  section->instants.SawDevice(static_cast<std::uint8_t>(device));
  format::DeviceHeader& figures = section->header().devices[Value(device)];
  figures.total_bytes = total.count();
  figures.used_bytes.store(used.count(), std::memory_order_relaxed);
  figures.last_sample_time.store(section->Now(), std::memory_order_release);
}

void Ledger::PoolSample(DeviceId device, Bytes reserved, Bytes used) {
  const Impl::Section section(impl_, Impl::Section::Kind::kEvent);
  if (!section || Value(device) >= format::kMaxDevices) return;
  format::DeviceHeader& figures = section->header().devices[Value(device)];
  figures.pool_reserved_bytes.store(reserved.count(), std::memory_order_relaxed);
  figures.pool_used_bytes.store(used.count(), std::memory_order_relaxed);
}

void Ledger::DeviceIdentity(DeviceId device, std::span<const std::uint8_t, 16> uuid,
                            std::string_view pci_bus_id) {
  const Impl::Section section(impl_, Impl::Section::Kind::kFact);
  if (!section || Value(device) >= format::kMaxDevices) return;
  format::DeviceHeader& figures = section->header().devices[Value(device)];
  std::copy(uuid.begin(), uuid.end(), figures.uuid);
  const std::size_t size = std::min(pci_bus_id.size(), sizeof figures.pci_bus_id - 1);
  std::copy_n(pci_bus_id.begin(), size, figures.pci_bus_id);
}

}  // namespace cuheap
