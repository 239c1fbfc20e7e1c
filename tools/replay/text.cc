#include "tools/replay/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "allocator/driver/latency.h"

namespace cuheap::replay {
namespace {

std::string SizeOf(Bytes bytes) {
  const auto count = static_cast<double>(bytes.count());
  if (bytes >= 1_GiB) return fmt::format("{:.3f} GiB", count / double{1u << 30});
  if (bytes >= 1_MiB) return fmt::format("{:.1f} MiB", count / double{1u << 20});
  if (bytes >= 1_KiB) return fmt::format("{:.1f} KiB", count / double{1u << 10});
  return fmt::format("{} B", bytes.count());
}

std::string TimeOf(std::uint64_t nanoseconds) {
  const auto count = static_cast<double>(nanoseconds);
  if (nanoseconds >= 1'000'000'000) return fmt::format("{:.3f} s", count / 1e9);
  if (nanoseconds >= 1'000'000) return fmt::format("{:.1f} ms", count / 1e6);
  return fmt::format("{:.1f} us", count / 1e3);
}

std::string RatioOf(Bytes part, Bytes whole) {
  if (whole == Bytes()) return "-";
  return fmt::format("{:.3f}",
                     static_cast<double>(part.count()) / static_cast<double>(whole.count()));
}

std::string Counted(std::uint64_t count, const char* what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

struct Time {
  std::uint64_t all = 0;
  std::uint64_t assumed = 0;
  std::uint64_t calls = 0;
};

Time TimeIn(const Outcome& outcome) {
  Time time;
  for (std::size_t i = 0; i < kDriverCalls; ++i) {
    const CallAccount& account = outcome.calls[i];
    time.calls += account.calls;
    time.all += account.nanoseconds;
    if (LatencyOf(static_cast<DriverCall>(i)).source == LatencySource::kAssumed)
      time.assumed += account.nanoseconds;
  }
  return time;
}

std::string TimeText(const Time& time) {
  return TimeOf(time.all) + (time.assumed > 0 ? " (a)" : "    ");
}

using Rows = std::vector<std::vector<std::string>>;

// The first column is a name, the others are figures.
std::string Aligned(const Rows& rows) {
  std::vector<std::size_t> widths(rows.empty() ? 0 : rows[0].size());
  for (const auto& row : rows)
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  std::string text;
  for (const auto& row : rows) {
    std::string line = fmt::format("{:<{}}", row[0], widths[0]);
    for (std::size_t i = 1; i < row.size(); ++i) line += fmt::format("  {:>{}}", row[i], widths[i]);
    text += line + "\n";
  }
  return text;
}

std::string Head(const Replay& replay) {
  const OpFigures& figures = replay.figures;
  const std::uint64_t events = figures.allocations + figures.frees + figures.uses + figures.steps;
  std::string text = fmt::format(
      "{}: {}: {}, {}, {} by another stream, {}; {}, {}\n", replay.name, Counted(events, "event"),
      Counted(figures.allocations, "allocation"), Counted(figures.frees, "free"),
      Counted(figures.uses, "use"), Counted(figures.steps, "step"),
      Counted(figures.devices, "device"), Counted(figures.streams, "stream"));
  for (const std::string& note : replay.notes) text += fmt::format("  {}\n", note);
  if (figures.devices > 1)
    text += fmt::format("  memory is that of device {}, the fullest; calls are those of all\n",
                        Value(figures.fullest));
  return text;
}

std::vector<std::string> RowOf(const Finding& finding, std::uint32_t device, Bytes live) {
  const Outcome& outcome = finding.outcome;
  const Bytes reserved = outcome.peak_reserved[device];
  const Time time = TimeIn(outcome);
  const bool whole = outcome.completed();
  const std::optional<Bytes>& smallest = finding.smallest.capacity;
  return {finding.policy->name,
          whole ? SizeOf(live) : "-",
          whole ? SizeOf(reserved) : "-",
          whole ? RatioOf(reserved, live) : "-",
          std::to_string(time.calls),
          TimeText(time),
          smallest ? SizeOf(*smallest) : "none found",
          smallest ? RatioOf(*smallest, live) : "-",
          smallest ? TimeText(TimeIn(finding.smallest.outcome)) : "-"};
}

std::string Table(const Replay& replay) {
  const std::uint32_t device = Value(replay.figures.fullest);
  Rows rows = {{"policy", "peak live", "peak reserved", "ratio", "driver calls", "their time    ",
                "smallest capacity", "ratio", "time there    "}};
  for (const Finding& finding : replay.findings)
    rows.push_back(RowOf(finding, device, replay.figures.peak_live[device]));
  return Aligned(rows);
}

std::string Failures(const Replay& replay) {
  std::string text;
  for (const Finding& finding : replay.findings) {
    if (finding.outcome.completed()) continue;
    const Failure& failure = *finding.outcome.failure;
    text += fmt::format(
        "{} is out of memory at event {}: {} asked of device {}, where {} live and {} are "
        "reserved of {}\n",
        finding.policy->name, failure.op + 1, SizeOf(failure.request.bytes),
        Value(failure.request.device), SizeOf(failure.live), SizeOf(failure.reserved),
        SizeOf(replay.capacity));
  }
  return text;
}

std::string FigureOf(DriverCall call) {
  const DriverLatency latency = LatencyOf(call);
  if (latency.source == LatencySource::kNone) return "no figure    ";
  std::string text;
  if (latency.call_ns > 0) text = TimeOf(latency.call_ns);
  if (latency.unit_ns > 0) {
    if (!text.empty()) text += " and ";
    text += fmt::format("{} for {} {}", TimeOf(latency.unit_ns),
                        latency.included == Bytes() ? "each" : "each further",
                        latency.unit == 1_GiB ? "GiB" : SizeOf(latency.unit));
  }
  return text + (latency.source == LatencySource::kAssumed ? " (a)" : "    ");
}

std::string Calls(const Replay& replay) {
  Rows rows = {{"driver calls"}};
  for (const Finding& finding : replay.findings) rows[0].push_back(finding.policy->name);
  rows[0].push_back("a call    ");
  for (std::size_t i = 0; i < kDriverCalls; ++i) {
    const auto call = static_cast<DriverCall>(i);
    std::vector<std::string> row = {NameOf(call)};
    std::uint64_t calls = 0;
    for (const Finding& finding : replay.findings) {
      calls += finding.outcome.calls[i].calls;
      row.push_back(std::to_string(finding.outcome.calls[i].calls));
    }
    row.push_back(FigureOf(call));
    if (calls > 0) rows.push_back(row);
  }
  std::vector<std::string> last = {"share of assumptions"};
  for (const Finding& finding : replay.findings) {
    const Time time = TimeIn(finding.outcome);
    last.push_back(time.all == 0
                       ? "-"
                       : fmt::format("{:.0f} %", 100.0 * static_cast<double>(time.assumed) /
                                                     static_cast<double>(time.all)));
  }
  last.push_back("of the time    ");
  rows.push_back(last);
  return Aligned(rows);
}

}  // namespace

std::string Text(const Replay& replay) {
  return Head(replay) + "\n" + Table(replay) + Failures(replay) + "\n" + Calls(replay) +
         "(a) an assumption, not a measurement; the other times were published for an A100\n";
}

}  // namespace cuheap::replay
