#include "allocator/frontend/process_life.h"

#include <link.h>
#include <sys/auxv.h>

namespace cuheap {

bool IsPrivilegedProcess() { return getauxval(AT_SECURE) != 0; }

LoadedObjects CountLoadedObjects() {
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
