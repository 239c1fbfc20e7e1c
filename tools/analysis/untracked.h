// How memory that no record explains (contexts, modules, what nobody saw) moves from step end to
// step end.
#pragma once

#include <optional>

#include "tools/analysis/history.h"
#include "tools/trace/trace.h"

namespace cuheap::analysis {

// Bytes a step by which untracked memory of a device rises through the judged steps; nothing when
// it does not, or cannot be told.
std::optional<double> UntrackedGrowth(const trace::Trace& trace, std::size_t device,
                                      const Horizon& horizon);

}  // namespace cuheap::analysis
