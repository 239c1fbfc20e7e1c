// File descriptors that stand for something of the machine and can be given to other processes.
// Each is an open description of one file of the machine (PREFIX.exports) of its own: where it
// stands in the file says what it is, and the lock that it holds goes when the last copy of it is
// closed, in whatever process. That is how memory is held by descriptors alone.
// Threads: any; the functions that look at memory are called under a ControlLock.
#pragma once

#include <cstdint>

namespace cuheap::sim {

enum class DescriptorKind { kMemory, kPool, kMulticast };

struct DescriptorTicket {
  DescriptorKind kind = DescriptorKind::kMemory;
  int index = 0;  // of an export, of the table that has a pool's pages, of a multicast entry
  std::uint32_t serial = 0;
};

// False, after saying why, when that is impossible.
bool OpenDescriptorFile();
// -1: no more descriptors.
int MakeDescriptor(const DescriptorTicket& ticket);
// False: not a descriptor of this machine.
bool ReadDescriptor(int fd, DescriptorTicket* out);
// Whether such a descriptor is open somewhere. REQUIRES: not of a pool, which nothing holds.
bool IsHeldByDescriptor(DescriptorKind kind, int index);

}  // namespace cuheap::sim
