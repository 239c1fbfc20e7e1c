#include "tests/sim/engine/managed_memory.h"

#include <map>

#include "tests/sim/engine/access_rights.h"
#include "tests/sim/engine/engine_lock.h"

namespace cuheap::sim {
namespace {

constexpr std::uintptr_t kHostPage = 4096;

struct Part {
  std::uintptr_t end = 0;
  ManagedAdvice advice;
};

// Parts with advice, by their start. They do not overlap.
std::map<std::uintptr_t, Part>& Parts() {
  static auto& map = *new std::map<std::uintptr_t, Part>;
  return map;
}

struct Pages {
  std::uintptr_t begin = 0;
  std::uintptr_t end = 0;
};

Pages PagesOf(std::uintptr_t base, std::uint64_t bytes) {
  return {base / kHostPage * kHostPage, (base + bytes + kHostPage - 1) / kHostPage * kHostPage};
}

// Afterwards no part goes across `address`.
void CutAt(std::uintptr_t address) {
  const auto after = Parts().upper_bound(address);
  if (after == Parts().begin()) return;
  auto& [start, part] = *std::prev(after);
  if (start == address || part.end <= address) return;
  Parts()[address] = part;
  part.end = address;
}

// Calls visit(begin, end) for what no part covers.
template <class Visit>
void ForEachGap(const Pages& pages, Visit visit) {
  std::uintptr_t at = pages.begin;
  for (auto it = Parts().lower_bound(pages.begin); it != Parts().end() && it->first < pages.end;
       ++it) {
    if (at < it->first) visit(at, it->first);
    at = it->second.end;
  }
  if (at < pages.end) visit(at, pages.end);
}

}  // namespace

bool IsManagedRange(std::uintptr_t base, std::uint64_t bytes) {
  const EngineLock lock;
  const Allocation* block = FindAllocation(base);
  return bytes != 0 && block != nullptr && IsManaged(*block) &&
         bytes <= block->base + block->bytes - base;
}

void Advise(std::uintptr_t base, std::uint64_t bytes,
            const std::function<void(ManagedAdvice*)>& change) {
  const EngineLock lock;
  const Pages pages = PagesOf(base, bytes);
  CutAt(pages.begin);
  CutAt(pages.end);
  std::vector<Pages> gaps;
  ForEachGap(pages, [&](auto begin, auto end) { gaps.push_back({begin, end}); });
  for (const Pages& gap : gaps) Parts()[gap.begin] = Part{gap.end, {}};
  for (auto it = Parts().lower_bound(pages.begin); it != Parts().end() && it->first < pages.end;
       ++it) {
    change(&it->second.advice);
  }
}

std::vector<ManagedAdvice> AdviceOf(std::uintptr_t base, std::uint64_t bytes) {
  const EngineLock lock;
  const Pages pages = PagesOf(base, bytes);
  CutAt(pages.begin);
  std::vector<ManagedAdvice> found;
  ForEachGap(pages, [&](auto, auto) { found.resize(1); });
  for (auto it = Parts().lower_bound(pages.begin); it != Parts().end() && it->first < pages.end;
       ++it) {
    found.push_back(it->second.advice);
  }
  return found;
}

void ForgetAdvice(std::uintptr_t base, std::uint64_t bytes) {
  const EngineLock lock;
  const Pages pages = PagesOf(base, bytes);
  CutAt(pages.begin);
  CutAt(pages.end);
  Parts().erase(Parts().lower_bound(pages.begin), Parts().lower_bound(pages.end));
}

}  // namespace cuheap::sim
