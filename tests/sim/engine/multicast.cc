#include "tests/sim/engine/multicast.h"

#include <sys/mman.h>
#include <unistd.h>

#include "tests/sim/engine/address_space.h"
#include "tests/sim/engine/device.h"
#include "tests/sim/engine/engine_lock.h"
#include "tests/sim/engine/handle_pool.h"

namespace cuheap::sim {
namespace {

constexpr std::uint64_t kMagic = 0x7473616369746c6dULL;

// What an exported descriptor says when read.
struct ExportTicket {
  std::uint64_t magic;
  std::uint64_t identity;
  std::int64_t process;
  std::uint64_t serial;
};

HandlePool<MulticastHandle>& Handles() {
  static auto& pool = *new HandlePool<MulticastHandle>;
  return pool;
}

// By serial, so that a descriptor finds its object.
std::map<std::uint64_t, std::weak_ptr<MulticastObject>>& Living() {
  static auto& map = *new std::map<std::uint64_t, std::weak_ptr<MulticastObject>>;
  return map;
}

std::uint64_t next_serial = 1;

bool IsGranular(std::uint64_t value) { return value % kPageBytes == 0; }

bool IsFree(const MulticastMember& member, std::uint64_t offset, std::uint64_t bytes) {
  const auto after = member.bound.lower_bound(offset);
  if (after != member.bound.end() && after->first - offset < bytes) return false;
  if (after == member.bound.begin()) return true;
  const auto& [start, before] = *std::prev(after);
  return start + before.bytes <= offset;
}

MulticastHandle* NewHandle(std::shared_ptr<MulticastObject> object) {
  MulticastHandle* handle = Handles().New();
  handle->object = std::move(object);
  return handle;
}

bool ReadTicket(int fd, ExportTicket* out) {
  return pread(fd, out, sizeof(*out), 0) == sizeof(*out) && out->magic == kMagic;
}

}  // namespace

MulticastObject::~MulticastObject() {
  const EngineLock lock;
  Living().erase(serial);
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
  object->serial = next_serial++;
  Living()[object->serial] = object;
  return NewHandle(std::move(object));
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

CUresult AddMember(MulticastObject* object, int device) {
  if (object->is_complete() || object->members.count(device) != 0) return CUDA_ERROR_INVALID_VALUE;
  MulticastMember member;
  member.view = ReserveAddresses(object->properties.size, kPageBytes, 0);
  if (member.view == 0) return CUDA_ERROR_OUT_OF_MEMORY;
  object->members[device] = std::move(member);
  return CUDA_SUCCESS;
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
  if (!object->is_complete()) return CUDA_ERROR_INVALID_VALUE;
  if (object->properties.handleTypes != 0 && !memory.shareable) return CUDA_ERROR_INVALID_VALUE;
  const auto found = object->members.find(memory.pages->device());
  if (found == object->members.end()) return CUDA_ERROR_INVALID_DEVICE;
  MulticastMember& member = found->second;
  if (!IsFree(member, offset, bytes)) return CUDA_ERROR_INVALID_VALUE;
  if (!MapPages({member.view + offset, bytes, memory.pages}, memory.offset, Access::kReadWrite)) {
    return CUDA_ERROR_OUT_OF_MEMORY;
  }
  memory.pages->MarkWritten();  // by way of the view, from now on
  member.bound[offset] = {bytes, memory.pages};
  return CUDA_SUCCESS;
}

CUresult Unbind(MulticastObject* object, int device, std::uint64_t offset, std::uint64_t bytes) {
  const auto found = object->members.find(device);
  if (found == object->members.end()) return CUDA_ERROR_INVALID_DEVICE;
  MulticastMember& member = found->second;
  const auto binding = member.bound.find(offset);
  if (binding == member.bound.end() || binding->second.bytes != bytes) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  if (!UnmapPages(member.view + offset, bytes)) return CUDA_ERROR_OUT_OF_MEMORY;
  member.bound.erase(binding);
  return CUDA_SUCCESS;
}

CUresult ExportMulticast(const MulticastObject& object, int* fd) {
  if ((object.properties.handleTypes & CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR) == 0) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  const ExportTicket ticket{kMagic, TheControlBlock().identity, getpid(), object.serial};
  const int made = memfd_create("cuheap-sim-multicast", MFD_CLOEXEC);
  if (made < 0) return CUDA_ERROR_OUT_OF_MEMORY;
  if (pwrite(made, &ticket, sizeof(ticket), 0) != sizeof(ticket)) {
    close(made);
    return CUDA_ERROR_OUT_OF_MEMORY;
  }
  *fd = made;
  return CUDA_SUCCESS;
}

bool IsMulticastFile(int fd) {
  ExportTicket ticket{};
  return ReadTicket(fd, &ticket);
}

CUresult ImportMulticast(int fd, MulticastHandle** out) {
  ExportTicket ticket{};
  if (!ReadTicket(fd, &ticket) || ticket.identity != TheControlBlock().identity) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  if (ticket.process != getpid()) return CUDA_ERROR_NOT_SUPPORTED;
  const auto found = Living().find(ticket.serial);
  std::shared_ptr<MulticastObject> object =
      found == Living().end() ? nullptr : found->second.lock();
  if (object == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *out = NewHandle(std::move(object));
  return CUDA_SUCCESS;
}

}  // namespace cuheap::sim
