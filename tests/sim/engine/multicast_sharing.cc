#include "tests/sim/engine/multicast_sharing.h"

#include <algorithm>
#include <map>

#include "tests/sim/engine/address_space.h"
#include "tests/sim/engine/control_block.h"
#include "tests/sim/engine/descriptor.h"

namespace cuheap::sim {
namespace {

// This process's copy of each entry.
std::weak_ptr<MulticastObject> copies[kMaxMulticasts];

MulticastEntry& EntryOf(const MulticastObject& object) {
  return TheControlBlock().multicasts[object.entry];
}

std::uint64_t ChangesOf(const MulticastEntry& entry) {
  return __atomic_load_n(&entry.changes, __ATOMIC_ACQUIRE);
}

bool IsSame(const SharedBinding& shared, int device, std::uint64_t offset,
            const MulticastBinding& binding) {
  const int index = binding.pages->export_index();
  if (index < 0) return false;
  const ExportEntry& memory = TheControlBlock().exports[index];
  return shared.device == device && shared.offset == offset && shared.bytes == binding.bytes &&
         shared.memory_offset == binding.memory_offset && shared.serial == memory.serial;
}

bool IsTold(const MulticastEntry& entry, int device, std::uint64_t offset,
            const MulticastBinding& binding) {
  const SharedBinding* end = entry.bindings + entry.binding_count;
  return std::any_of(entry.bindings, end, [&](const SharedBinding& shared) {
    return IsSame(shared, device, offset, binding);
  });
}

void DropUntold(const MulticastEntry& entry, int device, MulticastMember* member) {
  for (auto bound = member->bound.begin(); bound != member->bound.end();) {
    const auto& [offset, binding] = *bound;
    const bool stays =
        IsTold(entry, device, offset, binding) || !UnmapPages(member->view + offset, binding.bytes);
    bound = stays ? std::next(bound) : member->bound.erase(bound);
  }
}

// The memory of a process that ended may be gone; then nothing is bound there.
void ShowTold(const SharedBinding& shared, MulticastMember* member) {
  if (member->bound.count(shared.offset) != 0) return;
  PhysicalPtr pages = ImportPages(shared.index, shared.serial);
  if (pages == nullptr) return;
  ShowBinding(member, shared.offset, {shared.bytes, std::move(pages), shared.memory_offset});
}

// Memory that is bound to a shared object becomes an export. False: there are too many.
bool Describe(const MulticastBinding& binding, SharedBinding* out) {
  CUmemAllocationProp properties{};
  properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, binding.pages->device()};
  properties.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
  out->index = binding.pages->Export(properties);
  if (out->index < 0) return false;
  out->serial = TheControlBlock().exports[out->index].serial;
  out->bytes = binding.bytes;
  out->memory_offset = binding.memory_offset;
  return true;
}

bool DescribeAll(const MulticastObject& object, std::vector<SharedBinding>* out) {
  for (const auto& [device, member] : object.members) {
    for (const auto& [offset, binding] : member.bound) {
      SharedBinding shared{};
      if (out->size() == kMaxSharedBindings || !Describe(binding, &shared)) return false;
      shared.device = device;
      shared.offset = offset;
      out->push_back(shared);
    }
  }
  return true;
}

// An entry that nobody has any more is free.
int FreeEntry() {
  for (int index = 0; index < kMaxMulticasts; ++index) {
    const MulticastEntry& entry = TheControlBlock().multicasts[index];
    const bool held = entry.holders != 0 || IsHeldByDescriptor(DescriptorKind::kMulticast, index);
    if (entry.serial == 0 || !held) return index;
  }
  return -1;
}

void Hold(const std::shared_ptr<MulticastObject>& object, int index) {
  object->entry = index;
  copies[index] = object;
  TheControlBlock().multicasts[index].holders |= 1ULL << MySlot();
}

CUresult Publish(const std::shared_ptr<MulticastObject>& object) {
  if (object->entry >= 0) return CUDA_SUCCESS;
  const int index = FreeEntry();
  if (index < 0) return CUDA_ERROR_OUT_OF_MEMORY;
  MulticastEntry& entry = TheControlBlock().multicasts[index];
  entry = MulticastEntry{};
  entry.serial = TheControlBlock().next_serial++;
  entry.properties = object->properties;
  Hold(object, index);
  return Tell(object.get()) ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

}  // namespace

void Follow(MulticastObject* object) {
  if (object->entry < 0 || ChangesOf(EntryOf(*object)) == object->seen) return;
  const ControlLock control;
  const MulticastEntry& entry = EntryOf(*object);
  for (int device = 0; device < kMaxDevices; ++device) {
    const bool is_member = (entry.members >> device & 1U) != 0;
    if (is_member && object->members.count(device) == 0 && !AddView(object, device)) return;
  }
  for (auto& [device, member] : object->members) DropUntold(entry, device, &member);
  for (std::uint32_t i = 0; i < entry.binding_count; ++i)
    ShowTold(entry.bindings[i], &object->members.at(entry.bindings[i].device));
  object->seen = entry.changes;
}

bool Tell(MulticastObject* object) {
  if (object->entry < 0) return true;
  std::vector<SharedBinding> bindings;
  if (!DescribeAll(*object, &bindings)) return false;
  MulticastEntry& entry = EntryOf(*object);
  entry.members = 0;
  for (const auto& [device, member] : object->members) entry.members |= 1U << device;
  std::copy(bindings.begin(), bindings.end(), entry.bindings);
  entry.binding_count = static_cast<std::uint32_t>(bindings.size());
  object->seen = entry.changes + 1;
  __atomic_store_n(&entry.changes, object->seen, __ATOMIC_RELEASE);
  return true;
}

void ForgetShared(const MulticastObject& object) {
  if (object.entry < 0) return;
  const ControlLock control;
  EntryOf(object).holders &= ~(1ULL << MySlot());
}

CUresult ExportMulticast(const std::shared_ptr<MulticastObject>& object, int* fd) {
  if ((object->properties.handleTypes & CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR) == 0) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  const ControlLock control;
  const CUresult published = Publish(object);
  if (published != CUDA_SUCCESS) return published;
  const int made = MakeDescriptor({DescriptorKind::kMulticast, object->entry,
                                   static_cast<std::uint32_t>(EntryOf(*object).serial)});
  if (made < 0) return CUDA_ERROR_OUT_OF_MEMORY;
  *fd = made;
  return CUDA_SUCCESS;
}

bool IsMulticastFile(int fd) {
  DescriptorTicket ticket;
  return ReadDescriptor(fd, &ticket) && ticket.kind == DescriptorKind::kMulticast;
}

CUresult ImportMulticast(int fd, MulticastHandle** out) {
  DescriptorTicket ticket;
  const ControlLock control;
  if (!ReadDescriptor(fd, &ticket) || ticket.index >= kMaxMulticasts) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  const MulticastEntry& entry = TheControlBlock().multicasts[ticket.index];
  if (static_cast<std::uint32_t>(entry.serial) != ticket.serial) return CUDA_ERROR_INVALID_VALUE;
  std::shared_ptr<MulticastObject> object = copies[ticket.index].lock();
  if (object == nullptr) {
    object = std::make_shared<MulticastObject>();
    object->properties = entry.properties;
    Hold(object, ticket.index);
    Follow(object.get());
  }
  *out = NewHandle(std::move(object));
  return CUDA_SUCCESS;
}

}  // namespace cuheap::sim
