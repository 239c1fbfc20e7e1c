#include "allocator/frontend/frontend.h"

#include <sys/prctl.h>

namespace cuheap {
namespace {

// A segment that is known to serve, as long as the index of blocks has not changed since.
struct ServedRange {
  static constexpr std::uint64_t kGrain = 2u << 20;
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::uint64_t changes = 0;
};

struct ThreadContext {
  enum class Kind : std::uint8_t { kUnknown, kPlain, kAutograd };
  ThreadSteps steps;
  ServedRange served[16];
  Kind kind = Kind::kUnknown;
};
constinit thread_local ThreadContext this_thread;

// Torch names the threads that run backward nodes; they carry no Python frames that would say so.
bool IsAutogradThread() {
  ThreadContext& thread = this_thread;
  if (thread.kind == ThreadContext::Kind::kUnknown) {
    char name[16] = "";
    prctl(PR_GET_NAME, name);
    thread.kind = std::string_view(name).starts_with("pt_autograd") ? ThreadContext::Kind::kAutograd
                                                                    : ThreadContext::Kind::kPlain;
  }
  return thread.kind == ThreadContext::Kind::kAutograd;
}

constinit Frontend frontend;

}  // namespace

Frontend& ProcessFrontend() { return frontend; }

// ---------------------------------------------------------------- the program's own words

void Frontend::Step() {
  if (IsWatching()) ledger_.Tick(format::Signal::k_program);
}

void Frontend::Mark(std::string_view name) {
  constexpr std::size_t kLongest = 200;
  if (IsWatching()) ledger_.Mark(name.substr(0, kLongest));
}

// ---------------------------------------------------------------- blocks

[[gnu::hot]] void Frontend::BlockBorn(const SeenBlock& block) {
  if (!EnterOrOpen()) return;
  ledger_.Expect(block.heap, block.address);
  Record(block, sites_.Capture(block.heap, block.caller));
}

bool Frontend::ExpectsSegment(const SeenBlock& block, const CallSite& site) const {
  const bool can_serve =
      block.heap == format::Heap::k_driver ||
      (block.heap == format::Heap::k_vmm && (block.flags & format::kUnmapped) == 0);
  return can_serve && site.from_torch_allocator && !config_.torch_caching_off;
}

[[gnu::hot]] void Frontend::Record(const SeenBlock& block, const CallSite& site) {
  Birth birth;
  birth.address = block.address;
  birth.block_bytes = block.block_bytes;
  birth.requested_bytes = block.requested_bytes;
  birth.site = site.site;
  birth.stream = block.stream;
  birth.device = block.device;
  birth.heap = block.heap;
  birth.flags = block.flags;
  TickSteps(site, block.heap, &birth.phase);
  if (ExpectsSegment(block, site)) {
    birth.flags |= format::kExpectSegment;
    birth.segment_heap = format::Heap::k_torch;
  }
  ledger_.Born(birth);
  if (block.heap == format::Heap::k_torch) {
    Serve(block);
  } else if ((block.flags & format::kUnmapped) == 0) {
    const std::uint64_t begin = Value(block.address);
    blocks_.Insert({.begin = begin,
                    .end = begin + block.block_bytes.count(),
                    .heap = block.heap,
                    .device = block.device,
                    .serves = false});
  }
}

// A step ends before the block that shows it is recorded.
[[gnu::hot]] void Frontend::TickSteps(const CallSite& site, format::Heap heap,
                                      format::Phase* phase) {
  if (site.facts != 0) {
    const StackFacts& facts = sites_.Facts(site.facts);
    *phase = facts.phase;
    FrameTicks ticks;
    if (steps_.Observe(&this_thread.steps, facts, &ticks))
      for (int i = 0; i < kFrameSignals; ++i)
        if (ticks[static_cast<std::size_t>(i)]) ledger_.Tick(SignalOfFrame(i));
  }
  if (heap == format::Heap::k_torch && *phase != format::Phase::kOptimizer && IsAutogradThread())
    *phase = format::Phase::kBackward;
}

// The blocks of the driver that this one lies in are segments: they are not themselves live.
[[gnu::hot]] void Frontend::Serve(const SeenBlock& block) {
  const std::uint64_t begin = Value(block.address);
  const std::uint64_t end = begin + block.block_bytes.count();
  // Most blocks come from where the last ones came from.
  ServedRange& served =
      this_thread.served[begin / ServedRange::kGrain % std::size(this_thread.served)];
  const std::uint64_t changes = blocks_.changes();
  if (served.changes == changes && served.begin <= begin && end <= served.end) return;
  BlockIndex::Block segment;
  while (blocks_.TakeUnmarked(begin, end, &segment))
    ledger_.ServeAsSegment(segment.heap, Address(segment.begin), block.heap);
  if (blocks_.Find(begin, &segment) && segment.serves)
    served = {segment.begin, segment.end, changes};
}

[[gnu::hot]] bool Frontend::BlockDied(format::Heap heap, Address address) {
  return IsWatching() && Forget(heap, address);
}

[[gnu::hot]] bool Frontend::Forget(format::Heap heap, Address address) {
  ledger_.Expect(heap, address);
  // Torch's frees cannot fail.
  if (heap == format::Heap::k_torch) return ledger_.Died(heap, address, Free::kFinal).known;
  BlockIndex::Block block;
  if (blocks_.Erase(Value(address), &block)) heap = block.heap;
  return ledger_.Died(heap, address).known;
}

void Frontend::BlockSurvived(format::Heap heap, Address address) {
  if (!IsWatching()) return;
  BlockIndex::Block block;
  if (heap != format::Heap::k_torch) {
    blocks_.Restore(Value(address));
    if (blocks_.Find(Value(address), &block)) heap = block.heap;
  }
  ledger_.Undo(heap, address);
}

void Frontend::AllocationFailed(const SeenBlock& request) {
  if (!EnterOrOpen()) return;
  // Torch's allocator frees its cache and tries again; its own door says when it gives up.
  if (sites_.IsTorchAllocator(request.caller) && !config_.torch_caching_off) return;
  ledger_.OutOfMemory(request.device, request.requested_bytes);
}

void Frontend::OutOfMemory(DeviceId device, Bytes requested) {
  if (EnterOrOpen()) ledger_.OutOfMemory(device, requested);
}

void Frontend::DeviceReset(DeviceId device) {
  if (!IsWatching()) return;
  BlockIndex::Block block;
  while (blocks_.EraseAnyOf(device, &block)) ledger_.Died(block.heap, Address(block.begin));
}

// ---------------------------------------------------------------- the driver's figures

void Frontend::UsedSample(DeviceId device, Bytes used, Bytes total) {
  if (IsWatching()) ledger_.UsedSample(device, used, total);
}

void Frontend::PoolSample(DeviceId device, Bytes reserved, Bytes used) {
  if (IsWatching()) ledger_.PoolSample(device, reserved, used);
}

void Frontend::DeviceIdentity(DeviceId device, std::span<const std::uint8_t, 16> uuid,
                              std::string_view pci_bus_id) {
  if (IsWatching()) ledger_.DeviceIdentity(device, uuid, pci_bus_id);
}

}  // namespace cuheap
