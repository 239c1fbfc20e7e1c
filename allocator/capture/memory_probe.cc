#include "allocator/capture/memory_probe.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

namespace cuheap::capture {

bool IsReadable(std::uintptr_t address) {
  // The kernel copies the new mask in before it looks at `how`, which is not a valid one: EFAULT
  // says that the mask could not be read, EINVAL that it could.
  constexpr int kInvalidHow = ~0;
  constexpr long kMaskBytes = 8;
  if (address < kPage) return false;  // and a null mask is not looked at
  const int saved = errno;
  syscall(SYS_rt_sigprocmask, kInvalidHow, address & ~std::uintptr_t{7}, nullptr, kMaskBytes);
  const bool readable = errno != EFAULT;
  errno = saved;
  return readable;
}

std::uintptr_t ReadableUpTo(std::uintptr_t begin, std::uintptr_t end) {
  for (std::uintptr_t page = begin & ~(kPage - 1); page < end; page += kPage)
    if (!IsReadable(page)) return page < begin ? begin : page;
  return end;
}

}  // namespace cuheap::capture
