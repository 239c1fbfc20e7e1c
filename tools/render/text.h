// A report as text, in the order in which people ask: is it a leak, what does the device hold,
// which sites grow, who held the peak, what is fragmented, what is not known, what to type next.
#pragma once

#include <string>
#include <vector>

#include "tools/analysis/report.h"
#include "tools/render/paint.h"

namespace cuheap::render {

struct TextOptions {
  std::size_t top = 20;  // rows of a table
  bool color = false;
};

std::string Text(const analysis::Report& report, const TextOptions& options);

// One line: "no leak found · peak 61.2 GiB at step 412 · ...". Says "not attached" where nothing
// could have been seen.
std::string VerdictLine(const analysis::Report& report);

// Sections of it that are about sites (text_sites.cc).
void AppendGrowing(const analysis::Report& report, const Paint& paint, std::string* out);
void AppendPeakHolders(const analysis::Report& report, const TextOptions& options,
                       const Paint& paint, std::string* out);
void AppendLiving(const analysis::Report& report, const TextOptions& options, const Paint& paint,
                  std::string* out);

}  // namespace cuheap::render
