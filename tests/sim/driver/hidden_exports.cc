// Exports that an older driver lacks (CUHEAP_SIM_WITHOUT). While this library is loaded they become
// undefined in its own table of dynamic symbols: a look-up of any kind passes over an undefined
// symbol, so dlsym, dlvsym and the dynamic linker answer as if the name had never been there.
// Programs that are linked to such a name were bound before, unless they bind lazily.
#include <dlfcn.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>

#include "tests/sim/driver/entry_table.h"
#include "tests/sim/engine/settings.h"

namespace cuheap::sim {
namespace {

// The table lies in a segment of its own (-z separate-code), so nothing there needs to be
// executable.
bool MakeWritable(const void* object, std::size_t bytes) {
  const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  const auto first = reinterpret_cast<std::uintptr_t>(object) / page * page;
  const auto last = (reinterpret_cast<std::uintptr_t>(object) + bytes - 1) / page * page;
  return mprotect(reinterpret_cast<void*>(first), last - first + page, PROT_READ | PROT_WRITE) == 0;
}

bool Hide(const EntryPoint& entry) {
  Dl_info info{};
  void* found = nullptr;
  if (dladdr1(entry.address, &info, &found, RTLD_DL_SYMENT) == 0 || found == nullptr) return false;
  auto* symbol = static_cast<ElfW(Sym)*>(found);
  if (entry.symbol != info.dli_sname || !MakeWritable(symbol, sizeof(*symbol))) return false;
  symbol->st_value = 0;
  symbol->st_shndx = SHN_UNDEF;
  return true;
}

[[gnu::constructor]] void HideExports() {
  const auto without = ReadWithout();
  if (without.empty()) return;
  for (const EntryPoint& entry : EntryPoints()) {
    if (!without.contains(entry.symbol) || Hide(entry)) continue;
    std::fprintf(stderr, "cuheap-sim: CUHEAP_SIM_WITHOUT: %s cannot be hidden\n",
                 entry.symbol.data());
  }
}

}  // namespace
}  // namespace cuheap::sim
