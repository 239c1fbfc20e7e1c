// The one line that cuheap may print on stderr in a process (design.md: "at most one line a
// process, switchable").
//
// Laws: 1. At most one line a process, whichever part asks first. 2. Nothing at all when
// CUHEAP_QUIET is set.
// 3. Written by one write(2), so that lines of several processes do not mix. Any thread; no
// allocation.
#pragma once

namespace cuheap {

// printf-style; the text gets "cuheap: " in front and a newline behind, and is cut at 500
// characters.
[[gnu::format(printf, 1, 2)]] void ReportLine(const char* format, ...);

// Says whether lines are printed at all. Called once at start, before other threads exist.
enum class ReportLines { kOn, kOff };
void SetReportLines(ReportLines lines);

}  // namespace cuheap
