// Everything that a report says about one trace, before it becomes text or JSON. Pure: frames come
// through a seam.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tools/analysis/balance.h"
#include "tools/analysis/history.h"
#include "tools/analysis/sites.h"
#include "tools/analysis/view.h"
#include "tools/trace/frames.h"

namespace cuheap::analysis {

struct ReportOptions {
  At at;
  std::optional<std::uint64_t> warmup;
  std::optional<std::uint32_t> device;  // only this one
};

struct Fragmentation {  // of a heap that places blocks in segments
  std::uint8_t device = 0;
  std::string heap;
  SegmentFigures figures;             // at the instant shown
  std::optional<double> realized;     // reserved / live - 1 at the peak of the device
  std::uint64_t failed_request = 0;   // where the instant shown is an OOM of the device
  std::vector<std::size_t> culprits;  // up to three rows of Report::sites that pin most
};

struct DevicePeak {
  std::uint64_t live_bytes = 0;
  std::optional<std::uint64_t> step;  // that ended before; unknown if the peak's instant is lost
  std::optional<double> realized;     // over all heaps in `used`
};

struct Report {
  const trace::Trace* trace = nullptr;
  View view;
  Horizon horizon;
  bool attached = false;  // some door of ours was reached
  bool complete = false;
  std::vector<std::string> missing;  // why it is not complete: said before anything else
  std::vector<Balance> balances;     // of devices that were seen
  std::vector<DevicePeak> peaks;     // parallel to balances
  std::vector<SiteRow> sites;
  std::vector<Fragmentation> fragmentation;
  std::vector<std::optional<double>> untracked_growth;      // parallel to balances
  std::vector<std::optional<std::uint64_t>> full_in_steps;  // parallel: at the growth of the leaks
  std::vector<std::string> notes;

  std::vector<const SiteRow*> with(Verdict verdict) const;
};

// REQUIRES: the trace outlives the report.
Result<Report> MakeReport(const trace::Trace& trace, const ReportOptions& options,
                          trace::FrameSource* frames);

}  // namespace cuheap::analysis
