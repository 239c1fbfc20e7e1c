// One row per site and device: what it holds at the instant shown, at the peak, at the last step
// end, and the verdict on it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tools/analysis/balance.h"
#include "tools/analysis/history.h"
#include "tools/analysis/view.h"
#include "tools/trace/frames.h"

namespace cuheap::analysis {

struct SampleBlock {
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
  std::uint64_t birth_step = 0;
  std::uint64_t birth_time = 0;
  std::uint64_t age_ns = 0;
};

struct SiteRow {
  SiteKey key{};
  std::string heap;
  bool in_used = false;
  std::string owner;  // path of the library whose code asked; empty if unknown
  std::vector<std::string> tags;
  Judgement judgement;
  std::string place;
  std::string why;
  std::uint64_t live_bytes = 0;  // at the instant shown
  std::uint64_t live_blocks = 0;
  std::uint64_t peak_bytes = 0;     // the site's own highest
  std::uint64_t at_peak_bytes = 0;  // at the peak of the device
  std::uint64_t total_blocks = 0;
  std::uint64_t freed_blocks = 0;
  std::uint64_t judged_births =
      0;  // up to the last step end: a job frees everything on its way out
  std::uint64_t judged_frees = 0;
  std::uint64_t surviving_steps = 0;
  std::optional<double> growth;  // bytes a step; nothing where there are too few steps to say
  std::uint64_t pinned_bytes = 0;
  std::vector<SampleBlock>
      samples;  // three of the blocks alive at the instant shown: oldest, middle, newest
  std::vector<trace::Frame> frames;
};

// `balances` are those of the instant shown; blame is taken from them. Live bytes descending, then
// place.
std::vector<SiteRow> SiteRows(const trace::Trace& trace, const View& view, const History& history,
                              const std::vector<Balance>& balances, trace::FrameSource* frames);

}  // namespace cuheap::analysis
