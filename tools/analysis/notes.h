// What a reader must know before believing figures: what is missing from the file, and what could
// not be seen at all.
#pragma once

#include <string>
#include <vector>

#include "tools/analysis/report.h"

namespace cuheap::analysis {

// Sentences on what the file lacks; empty for a complete one.
std::vector<std::string> MissingFrom(const trace::Trace& trace);
// Sentences on what was not visible or needs care. REQUIRES: all else in the report is set.
std::vector<std::string> NotesOn(const Report& report);

}  // namespace cuheap::analysis
