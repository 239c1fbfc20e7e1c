#include "tools/analysis/report.h"

#include <algorithm>
#include <numeric>

#include "tools/analysis/notes.h"
#include "tools/analysis/untracked.h"

namespace cuheap::analysis {
namespace {

using trace::Trace;

bool WasReached(const Trace& trace) {
  const trace::Doors& doors = trace.doors;
  // A look-up of an entry point alone is no proof: the program may have taken the real function by
  // another way.
  return doors.runtime_calls + doors.driver_calls + trace.events_of(format::Heap::k_torch) != 0 ||
         !trace.blocks.empty();
}

bool IsShown(const Trace& trace, std::size_t device, const ReportOptions& options) {
  if (options.device.has_value()) return *options.device == device;
  if (trace.devices[device].seen()) return true;
  return std::any_of(trace.blocks.begin(), trace.blocks.end(),
                     [device](const trace::Block& block) { return block.device == device; });
}

std::optional<double> Excess(std::uint64_t reserved, std::uint64_t live) {
  if (live == 0) return std::nullopt;
  return static_cast<double>(reserved) / static_cast<double>(live) - 1;
}

std::vector<std::size_t> Culprits(const std::vector<SiteRow>& sites, std::uint8_t device,
                                  format::Heap heap) {
  std::vector<std::size_t> order(sites.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::erase_if(order, [&](std::size_t i) {
    return sites[i].key.device != device || sites[i].key.heap != heap || sites[i].pinned_bytes == 0;
  });
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return sites[a].pinned_bytes > sites[b].pinned_bytes;
  });
  if (order.size() > 3) order.resize(3);
  return order;
}

void AddDevice(const Trace& trace, std::size_t device, Report* report,
               std::vector<Balance>* at_peak) {
  report->balances.push_back(BalanceAt(trace, device, report->view.devices[device]));
  report->untracked_growth.push_back(UntrackedGrowth(trace, device, report->horizon));
  DevicePeak peak;
  peak.live_bytes = trace.devices[device].peak_live_bytes;
  at_peak->emplace_back();
  if (const trace::Instant* instant = PeakOf(trace, device)) {
    at_peak->back() =
        BalanceAt(trace, device, {instant->time, instant->step, instant->devices[device]});
    peak.step = instant->step;
    peak.realized = Excess(at_peak->back().reserved(), at_peak->back().live);
  }
  report->peaks.push_back(peak);
}

void AddFragmentation(const Trace& trace, const Balance& balance, const Balance& at_peak,
                      Report* report) {
  for (const auto& [heap, figures] : balance.fragmentation) {
    Fragmentation row;
    row.device = balance.device;
    row.heap = trace.dictionary.heap_name(heap);
    row.figures = figures;
    const auto found =
        std::find_if(at_peak.heaps.begin(), at_peak.heaps.end(),
                     [heap = heap](const HeapRow& peak) { return peak.heap == heap; });
    if (found != at_peak.heaps.end()) row.realized = Excess(found->reserved(), found->live);
    if (report->view.leading == balance.device) row.failed_request = report->view.requested_bytes;
    row.culprits = Culprits(report->sites, balance.device, heap);
    report->fragmentation.push_back(std::move(row));
  }
}

// Free memory of the device at the last step end, what the heaps could hand out again included,
// over the growth of the leaks.
std::optional<std::uint64_t> FullInSteps(const Trace& trace, std::uint8_t device,
                                         const std::vector<SiteRow>& sites) {
  double slope = 0;
  for (const SiteRow& row : sites) {
    if (row.key.device != device || !row.in_used || row.judgement.verdict != Verdict::kGrowing)
      continue;
    slope += std::max(row.judgement.slope, 0.0);
  }
  const trace::Instant* last = LastStepEnd(trace);
  if (slope <= 0 || last == nullptr) return std::nullopt;
  const Balance balance = BalanceAt(trace, device, {last->time, last->step, last->devices[device]});
  if (!balance.used.has_value()) return std::nullopt;
  const std::uint64_t used = std::max(*balance.used, balance.reserved());
  if (balance.total < used) return std::nullopt;
  const std::uint64_t room = balance.total - used + balance.idle + balance.holes;
  constexpr double kNever = 1e15;
  const double steps = static_cast<double>(room) / slope;
  return steps < kNever ? std::optional(static_cast<std::uint64_t>(steps)) : std::nullopt;
}

}  // namespace

std::vector<const SiteRow*> Report::with(Verdict verdict) const {
  std::vector<const SiteRow*> rows;
  for (const SiteRow& row : sites) {
    if (row.judgement.verdict == verdict) rows.push_back(&row);
  }
  if (verdict == Verdict::kGrowing) {
    std::stable_sort(rows.begin(), rows.end(), [](const SiteRow* a, const SiteRow* b) {
      return a->judgement.slope > b->judgement.slope;
    });
  }
  return rows;
}

Result<Report> MakeReport(const Trace& trace, const ReportOptions& options,
                          trace::FrameSource* frames) {
  const Result<View> view = ViewAt(trace, options.at);
  if (!view.ok()) return view.error();
  Report report;
  report.trace = &trace;
  report.view = *view;
  report.attached = WasReached(trace);
  report.missing = MissingFrom(trace);
  report.complete = report.missing.empty();
  const History history = HistoryOf(trace, options.warmup);
  report.horizon = history.horizon;
  std::vector<Balance> at_peak;
  for (std::size_t device = 0; device < trace.devices.size(); ++device) {
    if (IsShown(trace, device, options)) AddDevice(trace, device, &report, &at_peak);
  }
  report.sites = SiteRows(trace, report.view, history, report.balances, frames);
  if (options.device.has_value()) {
    std::erase_if(report.sites,
                  [&](const SiteRow& row) { return row.key.device != *options.device; });
  }
  for (std::size_t i = 0; i < report.balances.size(); ++i) {
    AddFragmentation(trace, report.balances[i], at_peak[i], &report);
    report.full_in_steps.push_back(FullInSteps(trace, report.balances[i].device, report.sites));
  }
  report.notes = NotesOn(report);
  return report;
}

}  // namespace cuheap::analysis
