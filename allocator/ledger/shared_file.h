// Where the trace file lives while its process runs: shared memory with a link at the destination,
// else the destination itself, else private memory. Bytes never move: the whole limit is reserved
// as address space, and growing maps the next piece of the file.
//
// Laws
//   1. Growing reserves the storage first (posix_fallocate), so a full disk is a refused growth
//   here and no SIGBUS later.
//   2. No descriptor stays open: a program may close or count all of its own.
//   3. A name that is taken is never overwritten: the file gets a name with pid and start time.
//   4. At its destination the file appears whole: written beside it, then renamed.
// Threads: the caller serialises. No malloc.
#pragma once

#include <cstddef>
#include <cstdint>

#include "allocator/base/bytes.h"
#include "allocator/ledger/format.h"
#include "allocator/ledger/process_name.h"

namespace cuheap {

class SharedFile {
 public:
  constexpr SharedFile() = default;
  SharedFile(const SharedFile&) = delete;
  SharedFile& operator=(const SharedFile&) = delete;

  // Creates the file with its first page. False when there is neither shared memory nor a place at
  // the destination.
  bool Create(const char* destination, const char* shared_folder, Bytes limit);
  // Maps `more` further bytes (a multiple of 4 KiB), zeroed, behind what there is. nullptr when
  // storage or limit refuse.
  std::byte* Grow(Bytes more);

  // Writes the file to its destination and removes it from shared memory; from then on the first
  // page is the destination's. False when the destination cannot be written: the file stays where
  // it lives.
  bool BringHome();
  // Writes `size` bytes at `data`, which stand for the file, to `path`. False when it cannot.
  bool CopyTo(const char* path, const std::byte* data, Bytes size) const;
  // Unmaps all but the first page. REQUIRES: nobody uses the rest any more.
  void ReleaseAllButHeader();
  // For a forked child: from now on this memory has nothing to do with the file.
  void Forget();

  std::byte* data() const { return data_; }
  Bytes size() const { return size_; }
  format::Storage storage() const { return storage_; }
  const char* path() const { return path_; }  // where the bytes are; empty for private memory
  const char* destination() const { return destination_; }  // where they belong
  bool at_destination() const { return at_destination_; }   // that name is ours
  std::uint32_t exec_count() const { return exec_count_; }

 private:
  static constexpr int kGrowthsLeftOut = 4096;

  bool Map(Bytes more);
  bool CreateInSharedMemory(const char* folder);
  template <typename Make>
  bool TakeName(Make make);
  int Open(const char* path, std::uint64_t inode) const;
  void MapHeader(const char* path);

  std::byte* data_ = nullptr;
  Bytes reserved_;
  Bytes size_;
  format::Storage storage_ = format::Storage::kPrivate;
  bool at_destination_ = false;
  std::uint32_t exec_count_ = 0;
  std::uint64_t inode_ = 0;
  int growths_left_out_ = 0;
  ProcessName process_;
  char path_[kPathBytes] = {};
  char destination_[kPathBytes] = {};
};

}  // namespace cuheap
