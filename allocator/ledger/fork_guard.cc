#include "allocator/ledger/fork_guard.h"

#include <sys/mman.h>
#include <unistd.h>

namespace cuheap {

void ForkGuard::Start() {
  constexpr std::size_t kPage = 4096;
  process_ = static_cast<std::uint32_t>(getpid());
  void* page = mmap(nullptr, kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) return;
  if (madvise(page, kPage, MADV_WIPEONFORK) != 0) {
    munmap(page, kPage);
    return;
  }
  *static_cast<char*>(page) = 1;
  page_ = static_cast<const volatile char*>(page);
}

// Kernels that cannot wipe pages (before 4.14, some sandboxes) pay for a system call.
bool ForkGuard::InChild() const {
  if (page_ != nullptr) return *page_ == 0;
  return static_cast<std::uint32_t>(getpid()) != process_;
}

}  // namespace cuheap
