#include "tests/sim/engine/peer_access.h"

#include <algorithm>
#include <cinttypes>
#include <cstdio>

#include "tests/sim/engine/access_rights.h"
#include "tests/sim/engine/context.h"
#include "tests/sim/engine/engine_lock.h"
#include "tests/sim/engine/graph_memory.h"
#include "tests/sim/engine/memory_pool.h"
#include "tests/sim/engine/settings.h"
#include "tests/sim/engine/touched_ranges.h"

namespace cuheap::sim {
namespace {

Access AccessBy(unsigned flags) {
  switch (flags) {
    case CU_MEM_ACCESS_FLAGS_PROT_READWRITE:
      return Access::kReadWrite;
    case CU_MEM_ACCESS_FLAGS_PROT_READ:
      return Access::kRead;
    default:
      return Access::kNone;
  }
}

// Memory whose access is given to one device after the other.
bool HasRights(const Allocation& block) {
  return block.type == AllocationType::kMapping || block.type == AllocationType::kMulticast ||
         block.type == AllocationType::kGraph || block.pool != nullptr;
}

// Memory that belongs to a context: cuMemAlloc's, globals, another process's.
Access AccessToContextMemory(const Context& context, const Allocation& block) {
  if (block.device == context.device) return Access::kReadWrite;
  const Context& root = *RootOf(&context);
  if (block.context == nullptr || !block.context->alive) return Access::kNone;
  if (block.type == AllocationType::kImported && block.context == &root) return Access::kReadWrite;
  return root.peers.contains(block.context->id) ? Access::kReadWrite : Access::kNone;
}

// An allocation node says which devices its memory is open to, beside its own.
Access AccessToGraphMemory(const Context& context, const Allocation& block) {
  if (block.device == context.device || block.device == kHostDevice) return Access::kReadWrite;
  const auto memory = GraphMemoryAt(block.base);
  if (memory == nullptr) return Access::kNone;
  Access access = Access::kNone;
  for (const CUmemAccessDesc& given : memory->access) {
    const bool here =
        given.location.type == CU_MEM_LOCATION_TYPE_DEVICE && given.location.id == context.device;
    if (here) access = AccessBy(given.flags);
  }
  return access;
}

enum class Road { kDevice, kCopy, kBetweenContexts };

Road RoadOf(const Operation& operation) {
  if (const auto* kernel = std::get_if<TouchOp>(&operation))
    return kernel->between_contexts ? Road::kBetweenContexts : Road::kDevice;
  const auto* copy = std::get_if<CopyOp>(&operation);
  if (copy == nullptr) return Road::kDevice;
  return copy->between_contexts ? Road::kBetweenContexts : Road::kCopy;
}

bool IsReached(const Context& context, const Allocation& block, bool writes, Road road) {
  if (road == Road::kBetweenContexts) return true;
  // What no device owns, a plain copy reaches as the host does.
  const bool host_side = !HasRights(block) || block.device == kHostDevice;
  const bool staged = road == Road::kCopy && host_side;
  const Access access = staged ? Access::kReadWrite : AccessOf(context, block);
  return access == Access::kReadWrite || (access == Access::kRead && !writes);
}

// False.
bool Report(const Context& context, const std::string& what, const Allocation& block,
            std::uintptr_t address) {
  std::fprintf(stderr,
               "cuheap-sim: a %s on device %d touches %#" PRIxPTR
               ", memory of device %d that it may not access\n",
               what.c_str(), context.device, address, block.device);
  return false;
}

// Allocations may follow each other in a range; a gap is not looked at. `name` says what the work
// is called, if that has to be said.
template <class Name>
bool Reaches(const Context& context, Name name, const TouchedRange& range, Road road) {
  bool reached = true;
  WalkAllocations(
      range.base, range.bytes, [&](const Allocation& block, std::uintptr_t at, std::uint64_t) {
        reached =
            IsReached(context, block, range.writes, road) || Report(context, name(), block, at);
        return reached;
      });
  return reached;
}

template <class Name>
CUresult Check(const Context& context, Name name, const std::vector<TouchedRange>& ranges,
               Road road) {
  const EngineLock lock;
  const bool reached = std::all_of(ranges.begin(), ranges.end(), [&](const TouchedRange& range) {
    return Reaches(context, name, range, road);
  });
  return reached ? CUDA_SUCCESS : CUDA_ERROR_ILLEGAL_ADDRESS;
}

}  // namespace

bool ReachesDevice(int device, int peer) {
  return device == peer || peer == kHostDevice || TheSettings().peers.Connect(device, peer);
}

CUresult EnablePeer(Context* context, Context* peer) {
  const EngineLock lock;
  context = RootOf(context);
  peer = RootOf(peer);
  if (context == peer) return CUDA_ERROR_INVALID_CONTEXT;
  if (!TheSettings().peers.Connect(context->device, peer->device)) {
    return CUDA_ERROR_PEER_ACCESS_UNSUPPORTED;
  }
  return context->peers.insert(peer->id).second ? CUDA_SUCCESS
                                                : CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED;
}

CUresult DisablePeer(Context* context, Context* peer) {
  const EngineLock lock;
  return RootOf(context)->peers.erase(RootOf(peer)->id) == 1 ? CUDA_SUCCESS
                                                             : CUDA_ERROR_PEER_ACCESS_NOT_ENABLED;
}

Access AccessOf(const Context& context, const Allocation& block) {
  const auto index = static_cast<std::size_t>(context.device);
  if (block.type == AllocationType::kMulticast) return AccessBy(block.access[index]);
  if (block.type == AllocationType::kGraph) return AccessToGraphMemory(context, block);
  if (HasRights(block)) return AccessBy(AccessOf(block, index));
  const bool open = IsHostMemory(block) || IsManaged(block);
  return open ? Access::kReadWrite : AccessToContextMemory(context, block);
}

CUresult CheckDeviceAccess(const Context& context, const Operation& operation,
                           const std::vector<TouchedRange>& ranges) {
  return Check(
      context, [&] { return NameOf(operation); }, ranges, RoadOf(operation));
}

CUresult CheckDeviceAccess(const Context& context, const char* what, const TouchedRange& range) {
  return Check(
      context, [what] { return what; }, {range}, Road::kDevice);
}

}  // namespace cuheap::sim
