// The seam to CUDA: all that the allocator ever asks of a driver. One implementation speaks to
// libcuda (cuda_driver.h), one keeps accounts and has no device (accounting_driver.h), and one
// wraps another and fails when it is told to (fault_driver.h). A further one can be written from
// this page.
//
// Laws: 1. A call that fails changed nothing, and left its out-parameters as they were.
//       2. The current context, the current device and the last error of the calling thread are as
//          before, whatever the call did.
//       3. Work that is queued is never waited for, except by the calls that say so.
//       4. After a call returned kGone, all others do: the driver is unloading, or this is a forked
//          child. Nothing is to be freed then.
// Threads: any, unless a call says otherwise; no caller holds a lock of the allocator's (a driver
// may call back, and may wait).
#pragma once

#include <cstdint>

#include "allocator/base/bytes.h"
#include "allocator/base/ids.h"

namespace cuheap {

enum class DriverCode : std::uint8_t {
  kSuccess,
  kOutOfMemory,  // of the device; the host's is kFailed
  kNotReady,     // the event is not reached
  kNotSupported,
  kInvalid,    // a value that no call may have, or what was named is not there
  kCapturing,  // the stream, or the thread by its mode, forbids the call while it captures
  kGone,
  kFailed,  // anything else: the context may be lost
};

struct [[nodiscard]] DriverStatus {
  DriverCode code = DriverCode::kSuccess;
  std::int32_t cuda = 0;  // CUresult, for texts

  bool ok() const { return code == DriverCode::kSuccess; }
  friend bool operator==(DriverStatus, DriverStatus) = default;
};

enum class PagesHandle : std::uint64_t {};  // physical memory that was created in one call
enum class EventHandle : std::uint64_t {};

struct MemoryFigures {
  Bytes free;
  Bytes total;
};

// How the physical memory of a device comes, for virtual ranges.
struct PageRules {
  Bytes granule;             // sizes and offsets of mappings are multiples of it
  bool exportable = false;   // handles can be shared with another process
  bool for_devices = false;  // other devices of the machine may read it directly (RDMA)
};

struct StreamFacts {
  StreamId id{};           // never used again, unlike the handle
  bool capturing = false;  // operations become nodes of a graph
  std::uint64_t capture = 0;
};

class Driver {
 public:
  virtual DriverStatus CountDevices(std::uint32_t* count) = 0;
  virtual DriverStatus Figures(DeviceId device, MemoryFigures* figures) = 0;

  // Memory with an address of its own, aligned to 512 bytes. `bytes` > 0. Free waits for all work
  // of the device's context.
  virtual DriverStatus Allocate(DeviceId device, Bytes bytes, Address* address) = 0;
  virtual DriverStatus Free(DeviceId device, Address address) = 0;
  // The same, of memory that moves between host and device and may be more than the device has.
  virtual DriverStatus AllocateManaged(DeviceId device, Bytes bytes, Address* address) = 0;

  // Virtual memory. kNotSupported: this device has none. `rules` says what is wanted, but for the
  // granule, which is told.
  virtual DriverStatus AskGranule(DeviceId device, PageRules* rules) = 0;
  // Addresses without memory: multiples of the granule, of `bytes`, `alignment` a power of two.
  virtual DriverStatus Reserve(Bytes bytes, Bytes alignment, Address* address) = 0;
  virtual DriverStatus ReleaseRange(Address address, Bytes bytes) = 0;
  virtual DriverStatus CreatePages(DeviceId device, Bytes bytes, const PageRules& rules,
                                   PagesHandle* pages) = 0;
  // The memory goes back when it is mapped nowhere.
  virtual DriverStatus DestroyPages(PagesHandle pages) = 0;
  // The whole of `pages`. Not accessible yet.
  virtual DriverStatus Map(Address address, Bytes bytes, PagesHandle pages) = 0;
  // One whole mapping. Does not wait for work that uses it: the caller did.
  virtual DriverStatus Unmap(Address address, Bytes bytes) = 0;
  // `devices` is a set of bits: these may read and write; the others' rights stay.
  virtual DriverStatus SetAccess(Address address, Bytes bytes, std::uint64_t devices) = 0;

  // Streams; handle 0 is the legacy default stream, 1 and 2 are CUDA's names for the default ones.
  virtual DriverStatus LookAt(DeviceId device, StreamHandle stream, StreamFacts* facts) = 0;
  // An event without timing, of the stream's context.
  virtual DriverStatus CreateEvent(DeviceId device, StreamHandle stream, EventHandle* event) = 0;
  virtual DriverStatus DestroyEvent(EventHandle event) = 0;
  virtual DriverStatus Record(DeviceId device, StreamHandle stream, EventHandle event) = 0;
  // kSuccess: reached, or never recorded. kNotReady.
  virtual DriverStatus Query(EventHandle event) = 0;
  // What is submitted to the stream from now on comes after the event.
  virtual DriverStatus StreamWait(DeviceId device, StreamHandle stream, EventHandle event) = 0;
  // These wait on the host.
  virtual DriverStatus Wait(EventHandle event) = 0;
  virtual DriverStatus WaitForDevice(DeviceId device) = 0;

 protected:
  ~Driver() = default;
};

}  // namespace cuheap
