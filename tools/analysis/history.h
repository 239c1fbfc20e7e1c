// The past of every site at the kept step ends, from block records: exact, because a record stays
// while a kept instant needs it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "tools/analysis/verdict.h"
#include "tools/trace/trace.h"

namespace cuheap::analysis {

struct SiteKey {
  std::uint8_t device;
  std::uint32_t site;
  format::Heap heap;  // told apart because the unknown site has blocks of every heap
  auto operator<=>(const SiteKey&) const = default;
};

struct History {
  Horizon horizon;
  std::vector<std::uint64_t> times;  // of Horizon::ends
  std::map<SiteKey, SiteSeries> sites;
};

// `warmup` in steps; without one, the first third of what the present clock counted.
History HistoryOf(const trace::Trace& trace, std::optional<std::uint64_t> warmup);

}  // namespace cuheap::analysis
