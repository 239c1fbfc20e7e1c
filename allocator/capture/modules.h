// Which loaded object an address belongs to, without the loader lock (_dl_find_object, glibc
// >= 2.35; below, a map that RefreshModules fills where the loader lock may be taken). This is how
// an owner library is told from a caller's address.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace cuheap::capture {

struct Module {
  std::uint64_t map_begin = 0;
  std::uint64_t map_end = 0;
  std::uint64_t load_bias = 0;
  const void* link_map = nullptr;  // identity of this load
  std::uint64_t unwind_table = 0;  // address of its .eh_frame_hdr, 0 = none
};

// False for JIT code and addresses of no module. Any thread, no lock.
bool FindModule(std::uint64_t pc, Module* module);

// For interning, once a module: path ("" never; the main program's is resolved) and build-id (may
// be empty). Text is written into `path`; the build-id points into the mapped object.
// REQUIRES: the module is still loaded (it is while one of its functions is on the stack).
std::string_view ModulePath(const Module& module, std::span<char> path);
std::span<const std::uint8_t> ModuleBuildId(const Module& module);

// Only needed where _dl_find_object is missing (does nothing elsewhere); takes the loader lock: not
// from under a lock of the host's.
void RefreshModules();

}  // namespace cuheap::capture
