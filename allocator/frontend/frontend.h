// The core of a process put together: what doors see goes in, the ledger's records come out. One
// object a process, constant-initialised, whose zero means "nothing is watched yet".
//
// Life: Start reads the knobs and does nothing else. The first memory that is handed out or refused
// opens the ledger, so a process that never touches CUDA leaves nothing. Stop closes it; later
// events are counted as late. A forked child is not watched once its parent's ledger was open.
// Privileged programs never are.
//
// Threads: everything but Start and Stop from any thread, under any lock of the host's, except
// where a line says otherwise.
//
// Laws
//   1. Off the safe points: no malloc, no loader lock, no driver call, no GIL.
//   2. The call site is captured before any lock of ours is taken.
//   3. Whatever fails here is counted or said once on stderr; the job goes on.
#pragma once

#include <atomic>
#include <cstdint>
#include <string_view>

#include "allocator/base/bytes.h"
#include "allocator/base/fork_guard.h"
#include "allocator/base/ids.h"
#include "allocator/base/mutex.h"
#include "allocator/frontend/block_index.h"
#include "allocator/frontend/config.h"
#include "allocator/frontend/physical_memory.h"
#include "allocator/frontend/process_life.h"
#include "allocator/frontend/site_capture.h"
#include "allocator/frontend/step_detector.h"
#include "allocator/ledger/ledger.h"

namespace cuheap {

// A block as a door sees it.
struct SeenBlock {
  Address address{};
  Bytes block_bytes;
  Bytes requested_bytes;
  StreamHandle stream{};
  DeviceId device{};
  format::Heap heap{};
  std::uint8_t flags = 0;  // format::BlockFlags
  const void* caller = nullptr;
};

// Torch's own is not here: what it tells are events, and the ledger counts those.
enum class Door : std::uint32_t { kRuntime = 0, kDriver = 1, kLookup = 2 };

class Frontend {
 public:
  constexpr Frontend() = default;
  Frontend(const Frontend&) = delete;
  Frontend& operator=(const Frontend&) = delete;

  // From the library's constructor and destructor.
  void Start(const char* const* environment);
  void Stop();

  // ---- the program's own words
  void Step();
  void Mark(std::string_view name);

  // ---- blocks
  void BlockBorn(const SeenBlock& block);
  // A block that is known under another heap (cudaFree of stream-ordered memory) is found there.
  bool BlockDied(format::Heap heap, Address address);
  void BlockSurvived(format::Heap heap, Address address);
  void AllocationFailed(const SeenBlock& request);
  void OutOfMemory(DeviceId device, Bytes requested);
  void DeviceReset(DeviceId device);

  // ---- physical memory
  void PhysicalCreated(std::uint64_t handle, const SeenBlock& memory);
  void PhysicalImported(std::uint64_t handle, DeviceId device);
  void PhysicalRetained(std::uint64_t handle);
  void PhysicalReleased(std::uint64_t handle);
  void PhysicalReleaseFailed(std::uint64_t handle);
  void PhysicalMapped(std::uint64_t handle, const SeenBlock& mapping);
  void PhysicalUnmapped(std::uint64_t address, Bytes bytes);
  void PhysicalUnmapFailed(std::uint64_t address, Bytes bytes);

  // ---- the driver's figures
  void UsedSample(DeviceId device, Bytes used, Bytes total);
  void PoolSample(DeviceId device, Bytes reserved, Bytes used);
  void DeviceIdentity(DeviceId device, std::span<const std::uint8_t, 16> uuid,
                      std::string_view pci_bus_id);

  // Where no lock of torch's is held and the loader lock may be taken. Cheap when nothing was
  // loaded since the last one.
  void SafePoint();
  void CountCall(Door door);
  void Watch(bool on) { watching_.store(on, std::memory_order_relaxed); }

 private:
  enum class State : std::uint32_t { kOff, kReady, kOpening, kOpen, kUnusable, kClosed };

  // The ledger is open and this is its process.
  bool IsWatching() const {
    return watching_.load(std::memory_order_relaxed) &&
           state_.load(std::memory_order_acquire) == State::kOpen && !fork_guard_.InChild();
  }
  bool EnterOrOpen();
  void Open();
  bool OpenLedger();
  void TellPython();
  void Record(const SeenBlock& block, const CallSite& site);
  void TickSteps(const CallSite& site, format::Heap heap, format::Phase* phase);
  void Serve(const SeenBlock& block);
  bool Forget(format::Heap heap, Address address);
  void Apply(const PhysicalMemory::Change& change, const SeenBlock& origin);
  void TakeBack(const PhysicalMemory::Change& change);
  bool ExpectsSegment(const SeenBlock& block, const CallSite& site) const;

  std::atomic<State> state_{State::kOff};
  std::atomic<bool> watching_{true};
  std::atomic<std::uint64_t> early_calls_[3]{};  // by Door, before the ledger was open
  ForkGuard fork_guard_;
  Config config_;
  Ledger ledger_;
  SiteCapture sites_;
  StepDetector steps_;
  BlockIndex blocks_;

  Mutex physical_mutex_;  // guards what follows
  PhysicalMemory physical_;

  Mutex safe_point_mutex_;  // guards what follows
  LoadedObjects loaded_;
};

// The one of this process.
Frontend& ProcessFrontend();

}  // namespace cuheap
