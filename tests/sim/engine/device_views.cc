#include "tests/sim/engine/device_views.h"

#include <atomic>
#include <iterator>
#include <map>
#include <mutex>

namespace cuheap::sim {
namespace {

struct View {
  std::uint64_t bytes = 0;
  std::uintptr_t host = 0;
};

struct Views {
  std::mutex mutex;
  std::map<std::uintptr_t, View> by_base;
  // Write-combined memory is rare: this keeps the look at every operation's ranges cheap.
  std::atomic<bool> any{false};
};

// Never destroyed: threads may still submit work while the process ends.
Views& TheViews() {
  static auto& views = *new Views;
  return views;
}

}  // namespace

void AddDeviceView(std::uintptr_t view, std::uint64_t bytes, std::uintptr_t host) {
  Views& views = TheViews();
  const std::lock_guard guard(views.mutex);
  views.by_base[view] = {bytes, host};
  views.any = true;
}

void RemoveDeviceView(std::uintptr_t view) {
  Views& views = TheViews();
  const std::lock_guard guard(views.mutex);
  views.by_base.erase(view);
  views.any = !views.by_base.empty();
}

void NameByHostAddress(std::vector<TouchedRange>* ranges) {
  Views& views = TheViews();
  if (!views.any) return;
  const std::lock_guard guard(views.mutex);
  for (TouchedRange& range : *ranges) {
    const auto next = views.by_base.upper_bound(range.base);
    if (next == views.by_base.begin()) continue;
    const auto& [base, view] = *std::prev(next);
    if (range.base - base < view.bytes) range.base += view.host - base;
  }
}

}  // namespace cuheap::sim
