// Multicast objects: memory of several devices behind one range of addresses.
//
// Laws: 1. Memory is bound when all devices of the team were added, at most one piece of a device
//          to each place; it stays alive while it is bound.
//       2. Each member has a view: addresses that nobody is told, where its bound memory lies as it
//          does in the object.
//       3. What other processes know of an object is followed before it is looked at and told after
//          it changed (multicast_sharing.h).
//       4. A handle lives while the program holds references to it or a mapping shows it, an object
//          while it has a handle.
// Threads: callers hold the engine's lock.
#pragma once

#include <cuda.h>

#include <cstdint>
#include <map>
#include <memory>

#include "tests/sim/engine/physical_memory.h"

namespace cuheap::sim {

struct MulticastBinding {
  std::uint64_t bytes = 0;
  PhysicalPtr pages;
  std::uint64_t memory_offset = 0;
};

struct MulticastMember {
  std::uintptr_t view = 0;
  std::map<std::uint64_t, MulticastBinding> bound;  // by offset in the object
};

struct MulticastObject {
  CUmulticastObjectProp properties{};
  std::map<int, MulticastMember> members;  // by device
  int entry = -1;                          // what other processes see of it; -1: nothing
  std::uint64_t seen = 0;                  // changes of the entry
  MulticastObject() = default;
  MulticastObject(const MulticastObject&) = delete;
  MulticastObject& operator=(const MulticastObject&) = delete;
  ~MulticastObject();
  bool is_complete() const { return members.size() == properties.numDevices; }
};

struct MulticastHandle {
  std::shared_ptr<MulticastObject> object;
  int references = 1;  // of the program
  int mappings = 0;
};

// Pieces of memory, by what a handle or an address names.
struct BindableMemory {
  PhysicalPtr pages;
  std::uint64_t offset = 0;
  bool shareable = false;
};

CUresult CheckMulticast(const CUmulticastObjectProp& properties);
MulticastHandle* CreateMulticast(const CUmulticastObjectProp& properties);
// nullptr: the program holds no reference to such a handle.
MulticastHandle* FindMulticast(CUmemGenericAllocationHandle handle);
void ReleaseMulticast(MulticastHandle* handle);
void DeleteIfUnused(MulticastHandle* handle);

CUresult AddMember(MulticastObject* object, int device);
CUresult Bind(MulticastObject* object, std::uint64_t offset, const BindableMemory& memory,
              std::uint64_t bytes);
CUresult Unbind(MulticastObject* object, int device, std::uint64_t offset, std::uint64_t bytes);

MulticastHandle* NewHandle(std::shared_ptr<MulticastObject> object);
// The same for parts of these, without checks. False: no address space, or no mapping is left.
bool AddView(MulticastObject* object, int device);
bool ShowBinding(MulticastMember* member, std::uint64_t offset, MulticastBinding binding);

}  // namespace cuheap::sim
