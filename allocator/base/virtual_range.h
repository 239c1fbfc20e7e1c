// Private memory that grows in place: one reserved address range, committed from the front.
// The in-process tables live in such ranges, so that they never move, never call malloc (which the
// host may have replaced) and are zero when new.
#pragma once

#include <cstddef>

#include "allocator/base/bytes.h"

namespace cuheap {

class VirtualRange {
 public:
  constexpr VirtualRange() = default;
  VirtualRange(const VirtualRange&) = delete;
  VirtualRange& operator=(const VirtualRange&) = delete;

  // Reserves address space only. False when the kernel refuses.
  [[nodiscard]] bool Reserve(Bytes size);
  // Makes at least the first `size` bytes usable (zeroed). False when refused or beyond the
  // reservation; then nothing changed.
  [[nodiscard]] bool CommitUpTo(Bytes size) { return size <= committed_ || Commit(size); }
  // Gives everything back. The object is as new.
  void Release();

  std::byte* data() const { return base_; }
  Bytes committed() const { return committed_; }
  Bytes reserved() const { return reserved_; }

 private:
  bool Commit(Bytes size);

  std::byte* base_ = nullptr;
  Bytes reserved_;
  Bytes committed_;
};

}  // namespace cuheap
