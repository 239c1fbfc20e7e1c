#include "tests/sim/engine/spare_mappings.h"

#include <sys/mman.h>

#include <cstddef>

namespace cuheap::sim {
namespace {

constexpr std::size_t kHostPage = 4096;
constexpr std::size_t kSpare = 256;
constexpr std::size_t kFew = 4096;  // mappings that no kernel refuses

std::size_t asked = 0;
bool refused = false;
std::byte* spare = nullptr;

// Every second page is of another kind, so that no two are one mapping.
bool KeepBack() {
  void* pages = mmap(nullptr, 2 * kSpare * kHostPage, PROT_NONE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (pages == MAP_FAILED) return false;
  spare = static_cast<std::byte*>(pages);
  for (std::size_t i = 0; i < kSpare; ++i) {
    if (mprotect(spare + 2 * i * kHostPage, kHostPage, PROT_READ) == 0) continue;
    LetSpareMappingsGo();
    return false;
  }
  return true;
}

}  // namespace

bool MayMap() {
  if (spare != nullptr || (!refused && ++asked < kFew)) return true;
  return KeepBack();
}

void LetSpareMappingsGo() {
  refused = true;
  if (spare != nullptr) munmap(spare, 2 * kSpare * kHostPage);
  spare = nullptr;
}

}  // namespace cuheap::sim
