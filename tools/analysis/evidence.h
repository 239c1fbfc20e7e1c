// A verdict's reason in one sentence.
#pragma once

#include <string>

#include "tools/analysis/verdict.h"

namespace cuheap::analysis {

struct SiteFacts {
  std::string place;               // "train.py:14"
  std::string workspace_function;  // of a workspace
  std::uint64_t median_bytes = 0;  // of a block that is alive at the last step end
  std::uint64_t oldest_birth = 0;  // steps ended when the oldest of them was born
  std::uint64_t newest_birth = 0;
  std::uint64_t born = 0;   // up to the last step end
  std::uint64_t freed = 0;  // of those
};

std::string Evidence(const Horizon& horizon, const SiteSeries& series, const Judgement& judgement,
                     const SiteFacts& facts);

}  // namespace cuheap::analysis
