#include "tools/render/text.h"

#include <fmt/format.h>

#include <algorithm>

#include "tools/analysis/words.h"

namespace cuheap::render {
namespace {

using analysis::Balance;
using analysis::CountText;
using analysis::Fragmentation;
using analysis::Report;
using analysis::SizeText;
using analysis::TimeText;
using analysis::Verdict;

std::string Size(std::uint64_t bytes) { return SizeText(static_cast<double>(bytes)); }

std::string LeakWords(const Report& report) {
  const std::size_t growing = report.with(Verdict::kGrowing).size();
  const std::size_t late = report.with(Verdict::kLate).size();
  std::string words;
  if (growing > 0) {
    words = CountText(growing, "site grows", "sites grow");
  } else if (report.horizon.judged_steps() < analysis::kLeastJudgedSteps) {
    words = "too short to judge leaks";
  } else {
    words = report.trace->lost_blocks() ? "no leak in what is left of the file" : "no leak found";
  }
  if (late > 0) words += fmt::format(", {} too young to judge", CountText(late, "site", "sites"));
  return words;
}

std::string PeakWords(const Report& report) {
  const analysis::DevicePeak* highest = nullptr;
  for (const analysis::DevicePeak& peak : report.peaks) {
    if (highest == nullptr || peak.live_bytes > highest->live_bytes) highest = &peak;
  }
  if (highest == nullptr || highest->live_bytes == 0) return "";
  std::string words = fmt::format(" · peak {}", Size(highest->live_bytes));
  if (highest->step.has_value()) words += fmt::format(" in step {}", *highest->step + 1);
  if (highest->realized.has_value()) {
    words += fmt::format(" · realized fragmentation {:.0f} %", *highest->realized * 100);
  }
  return words;
}

// A job that died of it must not have to know what to ask for.
std::string OutOfMemoryWords(const trace::Trace& trace) {
  const trace::Instant* last = analysis::LastOutOfMemory(trace);
  if (last == nullptr) return "";
  return fmt::format(
      "memory ran out on device {} in step {}: a request of {} failed (cuheap report --at oom {})",
      last->device, last->step + 1, Size(last->requested_bytes), ShellWord(trace.path));
}

void AppendHead(const Report& report, const Paint& paint, std::string* out) {
  const trace::Trace& trace = *report.trace;
  for (const std::string& sentence : report.missing) *out += paint.Warning(Safe(sentence)) + "\n";
  const std::string verdict = VerdictLine(report);
  const bool bad = !report.attached || !report.with(Verdict::kGrowing).empty();
  *out += (bad ? paint.Error(verdict) : paint.Heading(verdict)) + "\n";
  const std::string out_of_memory = OutOfMemoryWords(trace);
  if (!out_of_memory.empty()) *out += paint.Error(Safe(out_of_memory)) + "\n";
  *out += paint.Quiet(Safe(fmt::format(
              "{} · pid {} on {} · {} · {}", trace.path, trace.identity.pid, trace.identity.host,
              trace.identity.program, CountText(trace.steps, "step", "steps")))) +
          "\n";
}

std::string InstantWords(const Report& report, const analysis::Moment& moment) {
  const std::string& kind = report.view.kind;
  if (kind == "end") return "at the end of the file";
  std::string words = kind == "peak"   ? "at the peak"
                      : kind == "oom"  ? "when memory ran out"
                      : kind == "mark" ? "at mark " + Safe(report.view.name)
                                       : "at the end of step " + std::to_string(moment.step);
  if (kind != "step") words += fmt::format(", step {}", moment.step + 1);
  return words + ", " + TimeText(moment.time);
}

std::string Part(const char* name, std::optional<std::uint64_t> bytes, std::uint64_t whole) {
  if (!bytes.has_value()) return fmt::format("{} unknown", name);
  if (whole == 0) return fmt::format("{} {}", name, Size(*bytes));
  return fmt::format("{} {} {:.0f} %", name, Size(*bytes),
                     100.0 * static_cast<double>(*bytes) / static_cast<double>(whole));
}

// The balance in one bar of words that sum to the device.
void AppendBalance(const Balance& balance, std::string* out) {
  const std::uint64_t whole = balance.total != 0 ? balance.total : balance.used.value_or(0);
  std::string untracked = "untracked unknown";
  if (balance.untracked.has_value()) {
    // Below zero it says only that the driver's figure is older than what was taken since.
    if (*balance.untracked >= 0)
      untracked = Part("untracked", static_cast<std::uint64_t>(*balance.untracked), whole);
  }
  *out += fmt::format("  {} | {} | {} | {} | {} | {}", Part("live", balance.live, whole),
                      Part("rounding", balance.rounding, whole),
                      Part("holes", balance.holes, whole), Part("idle", balance.idle, whole),
                      Part("waiting", balance.waiting, whole), untracked);
  if (balance.used.has_value() && balance.total >= *balance.used) {
    *out += " | " + Part("free", balance.total - *balance.used, whole);
  }
  *out += "\n";
  for (const analysis::HeapRow& row : balance.heaps) {
    *out += fmt::format("  {:<9} live {} in {}", row.name, Size(row.live),
                        CountText(row.live_blocks, "block", "blocks"));
    if (row.holes != 0) *out += fmt::format(", holes {}", Size(row.holes));
    if (row.idle != 0) *out += fmt::format(", idle {}", Size(row.idle));
    *out += row.in_used ? "\n" : " (not device memory in use)\n";
  }
}

void AppendDevices(const Report& report, const Paint& paint, std::string* out) {
  for (const Balance& balance : report.balances) {
    std::string used = "used memory unknown";
    if (balance.used.has_value()) {
      used = fmt::format("{} used", Size(*balance.used));
      if (balance.total != 0) used += fmt::format(" of {}", Size(balance.total));
      used += fmt::format(" (driver, sampled at {})", TimeText(balance.moment.figures.sample_time));
    }
    *out += "\n" +
            paint.Heading(fmt::format("device {} {}: {}", balance.device,
                                      InstantWords(report, balance.moment), used)) +
            "\n";
    AppendBalance(balance, out);
  }
}

std::string FragmentationSentence(const Fragmentation& row) {
  const analysis::SegmentFigures& figures = row.figures;
  std::string sentence;
  if (row.failed_request != 0) {
    sentence = fmt::format(
        "A {} request failed: {} is free inside the segments of {}, but the largest single hole is "
        "{}.",
        Size(row.failed_request), Size(figures.holes + figures.idle), row.heap,
        Size(figures.largest_hole));
  } else {
    sentence =
        fmt::format("{} of {} in {} is free in holes, the largest single hole is {}.",
                    Size(figures.holes), Size(figures.reserved),
                    CountText(figures.segments, "segment", "segments"), Size(figures.largest_hole));
  }
  return sentence + fmt::format(" empty-cache would return {} ({}).", Size(figures.idle),
                                CountText(figures.idle_segments, "idle segment", "idle segments"));
}

void AppendFragmentation(const Report& report, const Paint& paint, std::string* out) {
  for (const Fragmentation& row : report.fragmentation) {
    *out += "\n" +
            paint.Heading(fmt::format("fragmentation of {} on device {}", row.heap, row.device)) +
            "\n";
    *out += "  " + FragmentationSentence(row) + "\n";
    if (row.realized.has_value()) {
      *out += fmt::format("  realized: {:.1f} % more reserved than live at the peak\n",
                          *row.realized * 100);
    }
    for (const std::size_t i : row.culprits) {
      const analysis::SiteRow& site = report.sites[i];
      *out += fmt::format("  {} from {} keep {} from use\n",
                          CountText(site.live_blocks, "block", "blocks"), Safe(site.place),
                          Size(site.pinned_bytes));
    }
  }
}

// The driver takes whole pages for what is asked of it, and does not say how many.
std::string DriversRounding(const Balance& balance) {
  for (const analysis::HeapRow& row : balance.heaps)
    if (row.heap == format::Heap::k_driver && row.live_blocks != 0)
      return fmt::format(", what the driver rounds {} up by",
                         CountText(row.live_blocks, "block", "blocks"));
  return "";
}

void AppendUntracked(const Report& report, const Paint& paint, std::string* out) {
  for (std::size_t i = 0; i < report.balances.size(); ++i) {
    const Balance& balance = report.balances[i];
    if (!balance.untracked.has_value()) continue;
    *out += "\n" + paint.Heading(fmt::format("untracked on device {}", balance.device)) + "\n";
    if (*balance.untracked < 0) {
      *out += "  unknown: memory was taken since the driver's figure was sampled\n";
      continue;
    }
    *out +=
        fmt::format("  {} that no record explains (contexts, modules, other processes{}), ",
                    SizeText(static_cast<double>(*balance.untracked)), DriversRounding(balance));
    *out += report.untracked_growth[i].has_value()
                ? paint.Warning(
                      fmt::format("growing by {} a step", SizeText(*report.untracked_growth[i]))) +
                      "\n"
                : std::string("not growing\n");
  }
}

void AppendNotes(const Report& report, const Paint& paint, std::string* out) {
  if (report.notes.empty()) return;
  *out += "\n" + paint.Heading("notes") + "\n";
  for (const std::string& note : report.notes) *out += "  " + Safe(note) + "\n";
}

void AppendNext(const Report& report, std::string* out) {
  const std::string path = ShellWord(report.trace->path);
  *out += fmt::format("\nnext: cuheap report --at {} {}",
                      report.view.kind == "peak" ? "end" : "peak", path);
  *out += fmt::format("   who held memory at {}\n",
                      report.view.kind == "peak" ? "the end" : "the peak");
  *out += fmt::format("      cuheap report --json {}      everything, for programs\n", path);
  *out += fmt::format(
      "      cuheap info {}               what the file holds and what was dropped\n", path);
}

}  // namespace

std::string VerdictLine(const Report& report) {
  if (!report.attached)
    return "not attached: no CUDA call was seen, so nothing can be said about leaks";
  return LeakWords(report) + PeakWords(report) +
         fmt::format(" · clock: {}", trace::NameOf(report.trace->clock)) +
         (report.complete ? " · file complete" : " · file incomplete");
}

std::string Text(const Report& report, const TextOptions& options) {
  const Paint paint(options.color);
  std::string out;
  AppendHead(report, paint, &out);
  if (report.attached) {
    AppendDevices(report, paint, &out);
    AppendGrowing(report, paint, &out);
    AppendPeakHolders(report, options, paint, &out);
    AppendLiving(report, options, paint, &out);
    AppendFragmentation(report, paint, &out);
    AppendUntracked(report, paint, &out);
  }
  AppendNotes(report, paint, &out);
  AppendNext(report, &out);
  return out;
}

}  // namespace cuheap::render
