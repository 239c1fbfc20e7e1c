#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "tools/analysis/culprit.h"
#include "tools/analysis/words.h"
#include "tools/render/text.h"

namespace cuheap::render {
namespace {

using analysis::CountText;
using analysis::Report;
using analysis::SiteRow;
using analysis::SizeText;
using analysis::TimeText;
using analysis::Verdict;

constexpr std::size_t kFrames = 8;

std::string Size(std::uint64_t bytes) { return SizeText(static_cast<double>(bytes)); }

std::string FrameText(const trace::Frame& frame) {
  constexpr std::size_t kWidth = 100;
  const std::string function = Shortened(Safe(frame.function), kWidth);
  if (frame.line > 0) return fmt::format("{}  {}:{}", function, Safe(frame.file), frame.line);
  return frame.file.empty() ? function : fmt::format("{}  {}", function, Safe(frame.file));
}

// Up to eight frames around the one that is named: the library's below it are worth less than its
// callers.
void AppendFrames(const SiteRow& row, std::string* out) {
  std::size_t first = 0;
  if (row.frames.size() > kFrames) {
    const auto culprit =
        static_cast<std::size_t>(analysis::Culprit(row.frames) - row.frames.data());
    first = std::min(culprit > 3 ? culprit - 3 : 0, row.frames.size() - kFrames);
  }
  const std::size_t last = std::min(row.frames.size(), first + kFrames);
  if (first > 0)
    *out += fmt::format("      ... {} further in\n", CountText(first, "frame", "frames"));
  for (std::size_t i = first; i < last; ++i) *out += "      " + FrameText(row.frames[i]) + "\n";
  if (last < row.frames.size()) {
    *out += fmt::format("      ... {} further out\n",
                        CountText(row.frames.size() - last, "frame", "frames"));
  }
}

std::string TagText(const SiteRow& row) {
  std::string text;
  for (const std::string& tag : row.tags) text += (text.empty() ? "" : "/") + Safe(tag);
  return text;
}

void AppendGrowingSite(const SiteRow& row, const Paint& paint, std::string* out) {
  *out += "  " +
          paint.Error(fmt::format("growing ({})", analysis::NameOf(row.judgement.confidence))) +
          "  " + Safe(row.why) + "\n";
  *out += fmt::format("      {} now in {}, {} a step, {} born, {} freed, heap {}, device {}",
                      Size(row.live_bytes), CountText(row.live_blocks, "block", "blocks"),
                      SizeText(row.judgement.slope), row.judged_births, row.judged_frees, row.heap,
                      row.key.device);
  if (!row.tags.empty()) *out += ", tag " + TagText(row);
  *out += "\n";
  AppendFrames(row, out);
  for (const analysis::SampleBlock& block : row.samples) {
    *out += fmt::format("      block {:#x}: {}, born in step {}, {} old\n", block.address,
                        Size(block.bytes), block.birth_step + 1, TimeText(block.age_ns));
  }
}

// "leaky_train.py:50 in train, inside Adam._init_group (adam.py:179)": the user's frame, and what
// it called.
std::string WhereText(const SiteRow& row) {
  constexpr std::size_t kWidth = 90;
  std::string text = Shortened(Safe(row.place), kWidth);
  const trace::Frame* frame = analysis::Culprit(row.frames);
  if (frame == nullptr || frame->line <= 0) return text;
  text += " in " + Shortened(Safe(analysis::ShortFunction(frame->function)), kWidth);
  const trace::Frame& inner = row.frames.front();
  if (&inner == frame || inner.line <= 0) return text;
  const std::string file = inner.file.substr(inner.file.rfind('/') + 1);
  return text + fmt::format(", inside {} ({}:{})",
                            Shortened(Safe(analysis::ShortFunction(inner.function)), kWidth),
                            Safe(file), inner.line);
}

std::string Row(const Report& report, const SiteRow& row, std::uint64_t bytes) {
  const bool judged = row.judgement.verdict != Verdict::kNone;
  std::string text =
      fmt::format("  {:>10}  {:<8} {:<9} {}", Size(bytes), row.heap,
                  judged ? analysis::NameOf(row.judgement.verdict) : "-", WhereText(row));
  if (!row.tags.empty()) text += " [" + TagText(row) + "]";
  if (report.balances.size() > 1) text += fmt::format(", device {}", row.key.device);
  return text;
}

void AppendRest(std::size_t shown, std::size_t all, std::uint64_t bytes, std::string* out) {
  if (all <= shown) return;
  *out += fmt::format("  {:>10}  in {}\n", Size(bytes),
                      CountText(all - shown, "more site", "more sites"));
}

void AppendByTag(const Report& report, std::string* out) {
  std::map<std::string, std::uint64_t> tags;
  for (const SiteRow& row : report.sites) {
    if (!row.tags.empty() && row.in_used) tags[TagText(row)] += row.at_peak_bytes;
  }
  for (const auto& [tag, bytes] : tags) *out += fmt::format("  {:>10}  tag {}\n", Size(bytes), tag);
}

}  // namespace

void AppendGrowing(const Report& report, const Paint& paint, std::string* out) {
  const auto rows = report.with(Verdict::kGrowing);
  if (rows.empty()) return;
  *out += "\n" + paint.Heading("growing") + "\n";
  for (const SiteRow* row : rows) AppendGrowingSite(*row, paint, out);
  for (std::size_t i = 0; i < report.balances.size(); ++i) {
    if (!report.full_in_steps[i].has_value()) continue;
    *out += fmt::format("  at this rate device {} is full in about {}\n", report.balances[i].device,
                        CountText(*report.full_in_steps[i], "step", "steps"));
  }
}

void AppendPeakHolders(const Report& report, const TextOptions& options, const Paint& paint,
                       std::string* out) {
  std::vector<const SiteRow*> rows;
  for (const SiteRow& row : report.sites) {
    if (row.at_peak_bytes != 0 && row.in_used) rows.push_back(&row);
  }
  if (rows.empty()) return;
  std::stable_sort(rows.begin(), rows.end(), [](const SiteRow* a, const SiteRow* b) {
    return a->at_peak_bytes > b->at_peak_bytes;
  });
  *out += "\n" + paint.Heading("who held the peak") + "\n";
  AppendByTag(report, out);
  std::uint64_t rest = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (i < options.top) {
      *out += Row(report, *rows[i], rows[i]->at_peak_bytes) + "\n";
    } else {
      rest += rows[i]->at_peak_bytes;
    }
  }
  AppendRest(options.top, rows.size(), rest, out);
}

void AppendLiving(const Report& report, const TextOptions& options, const Paint& paint,
                  std::string* out) {
  std::vector<const SiteRow*> rows;
  for (const SiteRow& row : report.sites) {
    if (row.live_bytes != 0 && row.judgement.verdict != Verdict::kGrowing) rows.push_back(&row);
  }
  if (rows.empty()) return;
  const char* heading =
      report.view.kind == "step" ? "what else lives at the step end" : "what else lives there";
  *out += "\n" + paint.Heading(heading) + "\n";
  std::uint64_t rest = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (i >= options.top) {
      rest += rows[i]->live_bytes;
      continue;
    }
    *out += Row(report, *rows[i], rows[i]->live_bytes);
    if (!rows[i]->why.empty()) *out += "; " + Safe(rows[i]->why);
    *out += "\n";
  }
  AppendRest(options.top, rows.size(), rest, out);
}

}  // namespace cuheap::render
