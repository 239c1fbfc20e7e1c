#include "allocator/frontend/process_life.h"

#include <link.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>

namespace cuheap {

bool ProcessLife::Protect() {
  constexpr std::size_t kPage = 4096;
  pid_ = getpid();
  void* page = mmap(nullptr, kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) return false;
  if (madvise(page, kPage, MADV_WIPEONFORK) != 0) {
    munmap(page, kPage);
    return false;
  }
  auto* flag = static_cast<unsigned char*>(page);
  *flag = 1;
  page_ = flag;
  return true;
}

bool ProcessLife::IsOtherProcess() const { return pid_ != 0 && pid_ != getpid(); }

bool ProcessLife::IsPrivileged() { return getauxval(AT_SECURE) != 0; }

ProcessLife::LoadedObjects ProcessLife::CountLoadedObjects() {
  LoadedObjects counts;
  // The counters come with every object; the first one is enough.
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* out) {
        *static_cast<LoadedObjects*>(out) = {info->dlpi_adds, info->dlpi_subs};
        return 1;
      },
      &counts);
  return counts;
}

}  // namespace cuheap
