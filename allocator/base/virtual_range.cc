#include "allocator/base/virtual_range.h"

#include <sys/mman.h>

#include <algorithm>

namespace cuheap {
namespace {

constexpr Bytes kPage = 4_KiB;
// Committing in steps keeps the number of mprotect calls (and of kernel mappings) small.
constexpr Bytes kStep = 256_KiB;

}  // namespace

bool VirtualRange::Reserve(Bytes size) {
  if (base_ != nullptr) return size <= reserved_;
  const Bytes whole = size.RoundedUpTo(kPage);
  void* range =
      mmap(nullptr, whole.count(), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (range == MAP_FAILED) return false;
  base_ = static_cast<std::byte*>(range);
  reserved_ = whole;
  return true;
}

bool VirtualRange::Commit(Bytes size) {
  if (size > reserved_) return false;
  const Bytes target = std::min(size.RoundedUpTo(kStep), reserved_);
  if (mprotect(base_ + committed_.count(), (target - committed_).count(), PROT_READ | PROT_WRITE) !=
      0)
    return false;
  committed_ = target;
  return true;
}

void VirtualRange::Release() {
  if (base_ != nullptr) munmap(base_, reserved_.count());
  base_ = nullptr;
  reserved_ = committed_ = Bytes();
}

}  // namespace cuheap
