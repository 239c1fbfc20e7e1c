// A driver without a device: it keeps the accounts of memory as a real one would, and counts calls.
// For replays and tests; not for jobs.
//
// Laws (those of driver.h, and): 1. Addresses are never given out twice.
//       2. What lives on a device never exceeds its capacity.
//       3. Work takes no time: an event is reached when it is recorded. Nothing captures.
// Threads: any; one lock inside.
#pragma once

#include <array>
#include <cstddef>
#include <map>
#include <mutex>
#include <set>
#include <vector>

#include "allocator/driver/driver.h"
#include "allocator/driver/driver_call.h"

namespace cuheap {

struct AccountingRules {
  std::uint32_t devices = 1;
  Bytes capacity = 16_GiB;   // of each device
  Bytes granule = 2_MiB;     // of virtual memory; 0: the devices have none
  Bytes allocation = 2_MiB;  // what Allocate takes multiples of
};

class AccountingDriver final : public Driver {
 public:
  explicit AccountingDriver(const AccountingRules& rules)
      : rules_(rules), used_(rules.devices), peak_(rules.devices) {}

  Bytes used(DeviceId device) const;
  Bytes peak(DeviceId device) const;
  std::uint64_t calls(DriverCall call) const;
  // Allocations, ranges, handles, mappings and events that are still there.
  std::size_t LiveObjects() const;

#define CUHEAP_DRIVER_CALL(name, parameters, arguments) DriverStatus name parameters override;
#include "allocator/driver/driver_calls.def"
#undef CUHEAP_DRIVER_CALL

 private:
  struct Memory {
    DeviceId device{};
    Bytes bytes;
  };
  struct Pages {
    Memory memory;
    bool destroyed = false;  // lives on while it is mapped
    bool mapped = false;
  };
  struct Mapping {
    Bytes bytes;
    PagesHandle pages{};
  };

  bool HasDevice(DeviceId device) const { return Value(device) < rules_.devices; }
  void Count(DriverCall call) { ++calls_[static_cast<std::size_t>(call)]; }
  DriverStatus Take(DeviceId device, Bytes bytes);
  void GiveBack(const Memory& memory) { used_[Value(memory.device)] -= memory.bytes; }
  Address NextAddress(Bytes bytes, Bytes alignment);
  bool IsReserved(Address address, Bytes bytes) const;
  void DropIfUnused(std::map<PagesHandle, Pages>::iterator pages);

  const AccountingRules rules_;
  mutable std::mutex mutex_;  // guards what follows
  std::vector<Bytes> used_;   // by device
  std::vector<Bytes> peak_;
  std::map<Address, Memory> allocations_;
  std::map<Address, Bytes> ranges_;
  std::map<PagesHandle, Pages> pages_;
  std::map<Address, Mapping> mappings_;
  std::set<EventHandle> events_;
  std::uint64_t next_address_ = std::uint64_t{1} << 40;
  std::uint64_t last_handle_ = 0;
  std::array<std::uint64_t, kDriverCalls> calls_{};
};

}  // namespace cuheap
