#include "allocator/driver/accounting_driver.h"

#include <algorithm>
#include <iterator>

namespace cuheap {
namespace {

// As CUresult has them.
constexpr DriverStatus kSuccess{};
constexpr DriverStatus kInvalid{DriverCode::kInvalid, 1};
constexpr DriverStatus kInvalidDevice{DriverCode::kInvalid, 101};
constexpr DriverStatus kInvalidHandle{DriverCode::kInvalid, 400};
constexpr DriverStatus kOutOfMemory{DriverCode::kOutOfMemory, 2};
constexpr DriverStatus kNotSupported{DriverCode::kNotSupported, 801};

constexpr std::uint64_t kEndOfAddresses = std::uint64_t{1} << 62;

bool IsMultiple(Bytes bytes, Bytes of) { return bytes.count() % of.count() == 0; }

}  // namespace

Bytes AccountingDriver::used(DeviceId device) const {
  const std::lock_guard lock(mutex_);
  return used_[Value(device)];
}

Bytes AccountingDriver::peak(DeviceId device) const {
  const std::lock_guard lock(mutex_);
  return peak_[Value(device)];
}

std::uint64_t AccountingDriver::calls(DriverCall call) const {
  const std::lock_guard lock(mutex_);
  return calls_[static_cast<std::size_t>(call)];
}

std::size_t AccountingDriver::LiveObjects() const {
  const std::lock_guard lock(mutex_);
  return allocations_.size() + ranges_.size() + pages_.size() + mappings_.size() + events_.size();
}

DriverStatus AccountingDriver::CountDevices(std::uint32_t* count) {
  const std::lock_guard lock(mutex_);
  Count(DriverCall::kCountDevices);
  *count = rules_.devices;
  return kSuccess;
}

DriverStatus AccountingDriver::Figures(DeviceId device, MemoryFigures* figures) {
  const std::lock_guard lock(mutex_);
  Count(DriverCall::kFigures);
  if (!HasDevice(device)) return kInvalidDevice;
  *figures = {rules_.capacity - used_[Value(device)], rules_.capacity};
  return kSuccess;
}

DriverStatus AccountingDriver::Allocate(DeviceId device, Bytes bytes, Address* address) {
  const std::lock_guard lock(mutex_);
  Count(DriverCall::kAllocate);
  if (!HasDevice(device)) return kInvalidDevice;
  if (bytes == Bytes()) return kInvalid;
  if (bytes > rules_.capacity) return kOutOfMemory;
  const Bytes taken = bytes.RoundedUpTo(rules_.allocation);
  if (const DriverStatus status = Take(device, taken); !status.ok()) return status;
  *address = NextAddress(taken, rules_.allocation);
  allocations_[*address] = {device, taken};
  return kSuccess;
}

DriverStatus AccountingDriver::Free(DeviceId device, Address address) {
  const std::lock_guard lock(mutex_);
  Count(DriverCall::kFree);
  if (!HasDevice(device)) return kInvalidDevice;
  const auto found = allocations_.find(address);
  if (found == allocations_.end()) return kInvalid;
  GiveBack(found->second);
  allocations_.erase(found);
  return kSuccess;
}

// It may exceed the device, so it is no memory of the device's.
DriverStatus AccountingDriver::AllocateManaged(DeviceId device, Bytes bytes, Address* address) {
  const std::lock_guard lock(mutex_);
  Count(DriverCall::kAllocateManaged);
  if (!HasDevice(device)) return kInvalidDevice;
  if (bytes == Bytes() || bytes.count() >= kEndOfAddresses) return kInvalid;
  *address = NextAddress(bytes, rules_.allocation);
  allocations_[*address] = {device, Bytes()};
  return kSuccess;
}

DriverStatus AccountingDriver::AskGranule(DeviceId device, PageRules* rules) {
  const std::lock_guard lock(mutex_);
  Count(DriverCall::kAskGranule);
  if (!HasDevice(device)) return kInvalidDevice;
  if (rules_.granule == Bytes()) return kNotSupported;
  rules->granule = rules_.granule;
  return kSuccess;
}

DriverStatus AccountingDriver::Reserve(Bytes bytes, Bytes alignment, Address* address) {
  const std::lock_guard lock(mutex_);
  Count(DriverCall::kReserve);
  if (rules_.granule == Bytes()) return kNotSupported;
  if (bytes == Bytes() || !IsMultiple(bytes, rules_.granule)) return kInvalid;
  if (bytes.count() >= kEndOfAddresses - next_address_) return kOutOfMemory;
  *address = NextAddress(bytes, std::max(alignment, rules_.granule));
  ranges_[*address] = bytes;
  return kSuccess;
}

DriverStatus AccountingDriver::ReleaseRange(Address address, Bytes bytes) {
  const std::lock_guard lock(mutex_);
  Count(DriverCall::kReleaseRange);
  const auto found = ranges_.find(address);
  if (found == ranges_.end() || found->second != bytes) return kInvalid;
  const auto mapping = mappings_.lower_bound(address);
  const bool mapped =
      mapping != mappings_.end() && Value(mapping->first) < Value(address) + bytes.count();
  if (mapped) return kInvalid;
  ranges_.erase(found);
  return kSuccess;
}

DriverStatus AccountingDriver::CreatePages(DeviceId device, Bytes bytes, const PageRules&,
                                           PagesHandle* pages) {
  const std::lock_guard lock(mutex_);
  Count(DriverCall::kCreatePages);
  if (!HasDevice(device)) return kInvalidDevice;
  if (rules_.granule == Bytes()) return kNotSupported;
  if (bytes == Bytes() || !IsMultiple(bytes, rules_.granule)) return kInvalid;
  if (const DriverStatus status = Take(device, bytes); !status.ok()) return status;
  *pages = PagesHandle(++last_handle_);
  pages_[*pages] = {{device, bytes}};
  return kSuccess;
}

DriverStatus AccountingDriver::DestroyPages(PagesHandle pages) {
  const std::lock_guard lock(mutex_);
  Count(DriverCall::kDestroyPages);
  const auto found = pages_.find(pages);
  if (found == pages_.end() || found->second.destroyed) return kInvalid;
  found->second.destroyed = true;
  DropIfUnused(found);
  return kSuccess;
}

DriverStatus AccountingDriver::Map(Address address, Bytes bytes, PagesHandle pages) {
  const std::lock_guard lock(mutex_);
  Count(DriverCall::kMap);
  const auto found = pages_.find(pages);
  const bool whole = found != pages_.end() && found->second.memory.bytes == bytes &&
                     !found->second.destroyed && !found->second.mapped;
  if (!whole || !IsReserved(address, bytes)) return kInvalid;
  const auto next = mappings_.lower_bound(address);
  if (next != mappings_.end() && Value(next->first) < Value(address) + bytes.count())
    return kInvalid;
  if (next != mappings_.begin()) {
    const auto before = std::prev(next);
    if (Value(before->first) + before->second.bytes.count() > Value(address)) return kInvalid;
  }
  found->second.mapped = true;
  mappings_[address] = {bytes, pages};
  return kSuccess;
}

DriverStatus AccountingDriver::Unmap(Address address, Bytes bytes) {
  const std::lock_guard lock(mutex_);
  Count(DriverCall::kUnmap);
  const auto found = mappings_.find(address);
  if (found == mappings_.end() || found->second.bytes != bytes) return kInvalid;
  const auto pages = pages_.find(found->second.pages);
  mappings_.erase(found);
  pages->second.mapped = false;
  DropIfUnused(pages);
  return kSuccess;
}

DriverStatus AccountingDriver::SetAccess(Address address, Bytes bytes, std::uint64_t devices) {
  const std::lock_guard lock(mutex_);
  Count(DriverCall::kSetAccess);
  if (devices == 0 || bytes == Bytes()) return kInvalid;
  if (rules_.devices < 64 && devices >> rules_.devices != 0) return kInvalidDevice;
  const std::uint64_t end = Value(address) + bytes.count();
  std::uint64_t at = Value(address);
  for (auto it = mappings_.find(address); at < end; ++it) {
    if (it == mappings_.end() || Value(it->first) != at) return kInvalid;
    at += it->second.bytes.count();
  }
  return at == end ? kSuccess : kInvalid;
}

DriverStatus AccountingDriver::LookAt(DeviceId device, StreamHandle stream, StreamFacts* facts) {
  const std::lock_guard lock(mutex_);
  Count(DriverCall::kLookAt);
  if (!HasDevice(device)) return kInvalidDevice;
  *facts = {.id = StreamId(Value(stream))};
  return kSuccess;
}

DriverStatus AccountingDriver::CreateEvent(DeviceId device, StreamHandle, EventHandle* event) {
  const std::lock_guard lock(mutex_);
  Count(DriverCall::kCreateEvent);
  if (!HasDevice(device)) return kInvalidDevice;
  *event = EventHandle(++last_handle_);
  events_.insert(*event);
  return kSuccess;
}

DriverStatus AccountingDriver::DestroyEvent(EventHandle event) {
  const std::lock_guard lock(mutex_);
  Count(DriverCall::kDestroyEvent);
  return events_.erase(event) == 1 ? kSuccess : kInvalidHandle;
}

DriverStatus AccountingDriver::Record(DeviceId device, StreamHandle, EventHandle event) {
  const std::lock_guard lock(mutex_);
  Count(DriverCall::kRecord);
  if (!HasDevice(device)) return kInvalidDevice;
  return events_.contains(event) ? kSuccess : kInvalidHandle;
}

DriverStatus AccountingDriver::Query(EventHandle event) {
  const std::lock_guard lock(mutex_);
  Count(DriverCall::kQuery);
  return events_.contains(event) ? kSuccess : kInvalidHandle;
}

DriverStatus AccountingDriver::StreamWait(DeviceId device, StreamHandle, EventHandle event) {
  const std::lock_guard lock(mutex_);
  Count(DriverCall::kStreamWait);
  if (!HasDevice(device)) return kInvalidDevice;
  return events_.contains(event) ? kSuccess : kInvalidHandle;
}

DriverStatus AccountingDriver::Wait(EventHandle event) {
  const std::lock_guard lock(mutex_);
  Count(DriverCall::kWait);
  return events_.contains(event) ? kSuccess : kInvalidHandle;
}

DriverStatus AccountingDriver::WaitForDevice(DeviceId device) {
  const std::lock_guard lock(mutex_);
  Count(DriverCall::kWaitForDevice);
  return HasDevice(device) ? kSuccess : kInvalidDevice;
}

DriverStatus AccountingDriver::Take(DeviceId device, Bytes bytes) {
  Bytes& used = used_[Value(device)];
  if (bytes > rules_.capacity - used) return kOutOfMemory;
  used += bytes;
  peak_[Value(device)] = std::max(peak_[Value(device)], used);
  return kSuccess;
}

Address AccountingDriver::NextAddress(Bytes bytes, Bytes alignment) {
  const Bytes begin = Bytes(next_address_).RoundedUpTo(alignment);
  next_address_ = begin.count() + bytes.count();
  return Address(begin.count());
}

bool AccountingDriver::IsReserved(Address address, Bytes bytes) const {
  const auto next = ranges_.upper_bound(address);
  if (next == ranges_.begin()) return false;
  const auto& [begin, length] = *std::prev(next);
  const std::uint64_t offset = Value(address) - Value(begin);
  return offset % rules_.granule.count() == 0 && offset + bytes.count() <= length.count();
}

void AccountingDriver::DropIfUnused(std::map<PagesHandle, Pages>::iterator pages) {
  if (!pages->second.destroyed || pages->second.mapped) return;
  GiveBack(pages->second.memory);
  pages_.erase(pages);
}

}  // namespace cuheap
