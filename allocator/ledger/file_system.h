// The few calls on files that the ledger makes, none of which can hurt the host: a full disk and a
// limit on file sizes are refusals, not signals; errno is the caller's to keep.
#pragma once

#include <cstddef>
#include <cstdint>

#include "allocator/base/bytes.h"

namespace cuheap {

void MakeParents(const char* path);

// Whether a new file in `folder` is ours alone: nobody else can replace it. Makes the folder (0700)
// if it is missing.
bool MakeTrustedFolder(const char* folder);

// A new file, mode 0600, empty; fails with EEXIST where anything has that name. The inode, or 0.
std::uint64_t CreateFile(const char* path);

// Storage for `more` bytes from `offset`, so that a mapping of them cannot fault.
bool ReserveStorage(int descriptor, Bytes offset, Bytes more);

// Writes `size` bytes to `path`, whole or not at all: beside it, then renamed. `head`: the first
// page, from elsewhere.
bool WriteFile(const char* path, std::uint32_t process, const std::byte* head,
               const std::byte* data, Bytes size);

// Whether `path` is a symbolic link to `target`.
bool LeadsTo(const char* path, const char* target);

}  // namespace cuheap
