#include "tests/sim/engine/multicast.h"

#include "tests/sim/engine/address_space.h"
#include "tests/sim/engine/device.h"
#include "tests/sim/engine/engine_lock.h"
#include "tests/sim/engine/handle_pool.h"
#include "tests/sim/engine/multicast_sharing.h"

namespace cuheap::sim {
namespace {

HandlePool<MulticastHandle>& Handles() {
  static auto& pool = *new HandlePool<MulticastHandle>;
  return pool;
}

bool IsGranular(std::uint64_t value) { return value % kPageBytes == 0; }

bool IsFree(const MulticastMember& member, std::uint64_t offset, std::uint64_t bytes) {
  const auto after = member.bound.lower_bound(offset);
  if (after != member.bound.end() && after->first - offset < bytes) return false;
  if (after == member.bound.begin()) return true;
  const auto& [start, before] = *std::prev(after);
  return start + before.bytes <= offset;
}

}  // namespace

MulticastObject::~MulticastObject() {
  const EngineLock lock;
  ForgetShared(*this);
  for (const auto& [device, member] : members) ReturnAddresses(member.view, properties.size);
}

CUresult CheckMulticast(const CUmulticastObjectProp& properties) {
  constexpr unsigned long long kKnown = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR |
                                        CU_MEM_HANDLE_TYPE_WIN32 | CU_MEM_HANDLE_TYPE_WIN32_KMT |
                                        CU_MEM_HANDLE_TYPE_FABRIC;
  int supported = 0;
  DeviceAttribute(0, CU_DEVICE_ATTRIBUTE_MULTICAST_SUPPORTED, &supported);
  if (supported == 0) return CUDA_ERROR_NOT_SUPPORTED;
  if (properties.numDevices == 0 ||
      properties.numDevices > static_cast<unsigned>(TheSettings().devices) ||
      properties.flags != 0 || (properties.handleTypes & ~kKnown) != 0) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  return (properties.handleTypes & ~CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR) != 0
             ? CUDA_ERROR_NOT_SUPPORTED
             : CUDA_SUCCESS;
}

MulticastHandle* CreateMulticast(const CUmulticastObjectProp& properties) {
  auto object = std::make_shared<MulticastObject>();
  object->properties = properties;
  return NewHandle(std::move(object));
}

MulticastHandle* NewHandle(std::shared_ptr<MulticastObject> object) {
  MulticastHandle* handle = Handles().New();
  handle->object = std::move(object);
  return handle;
}

MulticastHandle* FindMulticast(CUmemGenericAllocationHandle value) {
  MulticastHandle* handle = Handles().Find(reinterpret_cast<const void*>(value));
  return handle != nullptr && handle->references > 0 ? handle : nullptr;
}

void ReleaseMulticast(MulticastHandle* handle) {
  --handle->references;
  DeleteIfUnused(handle);
}

void DeleteIfUnused(MulticastHandle* handle) {
  if (handle->references == 0 && handle->mappings == 0) Handles().Delete(handle);
}

bool AddView(MulticastObject* object, int device) {
  MulticastMember member;
  member.view = ReserveAddresses(object->properties.size, kPageBytes, 0);
  if (member.view == 0) return false;
  object->members[device] = std::move(member);
  return true;
}

bool ShowBinding(MulticastMember* member, std::uint64_t offset, MulticastBinding binding) {
  const MappedRegion region{member->view + offset, binding.bytes, binding.pages};
  if (!MapPages(region, binding.memory_offset, Access::kReadWrite)) return false;
  binding.pages->MarkWritten();  // by way of the view, from now on
  member->bound[offset] = std::move(binding);
  return true;
}

CUresult AddMember(MulticastObject* object, int device) {
  const ControlLock control;
  Follow(object);
  if (object->is_complete() || object->members.count(device) != 0) return CUDA_ERROR_INVALID_VALUE;
  if (!AddView(object, device)) return CUDA_ERROR_OUT_OF_MEMORY;
  return Tell(object) ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult Bind(MulticastObject* object, std::uint64_t offset, const BindableMemory& memory,
              std::uint64_t bytes) {
  const std::uint64_t room = object->properties.size;
  const std::uint64_t there = memory.pages->bytes();
  if (bytes == 0 || !IsGranular(bytes) || !IsGranular(offset) || !IsGranular(memory.offset) ||
      offset >= room || bytes > room - offset || memory.offset >= there ||
      bytes > there - memory.offset) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  const ControlLock control;
  Follow(object);
  if (!object->is_complete()) return CUDA_ERROR_INVALID_VALUE;
  if (object->properties.handleTypes != 0 && !memory.shareable) return CUDA_ERROR_INVALID_VALUE;
  const auto found = object->members.find(memory.pages->device());
  if (found == object->members.end()) return CUDA_ERROR_INVALID_DEVICE;
  MulticastMember& member = found->second;
  if (!IsFree(member, offset, bytes)) return CUDA_ERROR_INVALID_VALUE;
  if (!ShowBinding(&member, offset, {bytes, memory.pages, memory.offset})) {
    return CUDA_ERROR_OUT_OF_MEMORY;
  }
  if (Tell(object)) return CUDA_SUCCESS;
  static_cast<void>(UnmapPages(member.view + offset, bytes));
  member.bound.erase(offset);
  return CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult Unbind(MulticastObject* object, int device, std::uint64_t offset, std::uint64_t bytes) {
  const ControlLock control;
  Follow(object);
  const auto found = object->members.find(device);
  if (found == object->members.end()) return CUDA_ERROR_INVALID_DEVICE;
  MulticastMember& member = found->second;
  const auto binding = member.bound.find(offset);
  if (binding == member.bound.end() || binding->second.bytes != bytes) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  if (!UnmapPages(member.view + offset, bytes)) return CUDA_ERROR_OUT_OF_MEMORY;
  member.bound.erase(binding);
  Tell(object);
  return CUDA_SUCCESS;
}

}  // namespace cuheap::sim
