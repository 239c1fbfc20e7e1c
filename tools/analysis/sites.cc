#include "tools/analysis/sites.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "tools/analysis/culprit.h"
#include "tools/analysis/evidence.h"
#include "tools/analysis/segments.h"

namespace cuheap::analysis {
namespace {

using trace::Block;
using trace::Trace;

struct Collected {
  SiteRow row;
  std::vector<const Block*> shown;    // alive at the instant shown
  std::vector<const Block*> at_last;  // alive at the last step end
  bool workspace = false;
};

using Table = std::map<SiteKey, Collected>;

Table Collect(const Trace& trace, const View& view, const History& history) {
  Table table;
  std::array<const trace::Instant*, format::kMaxDevices> peaks{};
  for (std::size_t i = 0; i < peaks.size(); ++i) peaks[i] = PeakOf(trace, i);
  for (const Block& block : trace.blocks) {
    if (IsSegment(block)) continue;
    const bool shown = block.AliveAt(view.devices[block.device].time);
    const bool at_peak = peaks[block.device] != nullptr && block.AliveAt(peaks[block.device]->time);
    const bool at_last = !history.times.empty() && block.AliveAt(history.times.back());
    if (!shown && !at_peak && !at_last) continue;
    Collected& site = table[{block.device, block.site, block.heap}];
    site.workspace = site.workspace || (block.flags & format::kWorkspace) != 0;
    if (at_last) site.at_last.push_back(&block);
    if (at_peak) site.row.at_peak_bytes += block.live_bytes();
    if (!shown) continue;
    site.shown.push_back(&block);
    site.row.live_bytes += block.live_bytes();
    ++site.row.live_blocks;
  }
  return table;
}

std::vector<SampleBlock> Samples(std::vector<const Block*> blocks, std::uint64_t now) {
  std::sort(blocks.begin(), blocks.end(),
            [](const Block* a, const Block* b) { return a->birth_time < b->birth_time; });
  std::vector<std::size_t> chosen;
  for (const std::size_t i : {std::size_t{0}, blocks.size() / 2, blocks.size() - 1}) {
    if (i < blocks.size() && (chosen.empty() || chosen.back() != i)) chosen.push_back(i);
  }
  std::vector<SampleBlock> samples;
  for (const std::size_t i : chosen) {
    const Block& block = *blocks[i];
    const std::uint64_t age = now > block.birth_time ? now - block.birth_time : 0;
    samples.push_back({block.address, block.live_bytes(), block.birth_step, block.birth_time, age});
  }
  return samples;
}

SiteFacts AliveFacts(const Collected& site) {
  SiteFacts facts;
  facts.place = site.row.place;
  if (site.at_last.empty()) return facts;
  std::vector<std::uint64_t> sizes;
  facts.oldest_birth = site.at_last.front()->birth_step;
  for (const Block* block : site.at_last) {
    sizes.push_back(block->live_bytes());
    facts.oldest_birth = std::min<std::uint64_t>(facts.oldest_birth, block->birth_step);
    facts.newest_birth = std::max<std::uint64_t>(facts.newest_birth, block->birth_step);
  }
  const auto middle = sizes.begin() + static_cast<std::ptrdiff_t>(sizes.size() / 2);
  std::nth_element(sizes.begin(), middle, sizes.end());
  facts.median_bytes = *middle;
  return facts;
}

// Births and frees up to the last step end. What came behind it is counted in the totals of the
// site only: if its last birth is later, the part of a step that followed is taken to have been
// like the steps before.
void CountUpTo(std::uint64_t last_step_end, const Horizon& horizon, const SiteSeries& series,
               const trace::Totals& totals, SiteRow* row) {
  std::uint64_t later = 0;
  if (totals.last_birth_time > last_step_end) {
    later = std::max<std::uint64_t>(1, totals.blocks / (horizon.last_step + 1));
  }
  row->judged_births = std::max(series.blocks, totals.blocks - std::min(totals.blocks, later));
  row->judged_frees = row->judged_births - series.blocks;
}

void JudgeRow(const Trace& trace, const History& history, Collected* site) {
  SiteRow& row = site->row;
  const auto found = history.sites.find(row.key);
  if (found == history.sites.end()) return;
  const SiteSeries& series = found->second;
  const trace::Totals& totals = trace.totals_of(row.key.site);
  row.judgement = Judge(history.horizon, series, totals);
  row.surviving_steps = series.surviving.back();
  if (!row.judgement.too_short) row.growth = row.judgement.slope;
  CountUpTo(history.times.back(), history.horizon, series, totals, &row);
  SiteFacts facts = AliveFacts(*site);
  facts.born = row.judged_births;
  facts.freed = row.judged_frees;
  facts.workspace_function = WorkspaceFunction(row.frames);
  if (facts.workspace_function.empty() && site->workspace)
    facts.workspace_function = "known by its site";
  if (!facts.workspace_function.empty() && row.judgement.verdict != Verdict::kNone) {
    row.judgement.verdict = Verdict::kWorkspace;
    row.judgement.confidence = Confidence::kNone;
  }
  row.why = Evidence(history.horizon, series, row.judgement, facts);
}

void Describe(const Trace& trace, trace::FrameSource* frames, SiteRow* row) {
  const trace::Site& site = trace.dictionary.site(row->key.site);
  const trace::Totals& totals = trace.totals_of(row->key.site);
  row->owner = trace.dictionary.module(site.owner).path;
  row->tags = trace.dictionary.tags(site.tags);
  row->frames = frames->FramesOf(row->key.site);
  row->place = PlaceOf(row->frames);
  row->total_blocks = totals.blocks;
  row->freed_blocks = totals.freed_blocks;
  row->peak_bytes = std::max({totals.peak_bytes, row->live_bytes, row->at_peak_bytes});
}

double BlameOf(const std::vector<Balance>& balances, SiteKey key) {
  double bytes = 0;
  for (const Balance& balance : balances) {
    const auto figures = balance.fragmentation.find(key.heap);
    if (balance.device != key.device || figures == balance.fragmentation.end()) continue;
    const auto found = figures->second.blame.find(key.site);
    if (found != figures->second.blame.end()) bytes += found->second;
  }
  return bytes;
}

}  // namespace

std::vector<SiteRow> SiteRows(const Trace& trace, const View& view, const History& history,
                              const std::vector<Balance>& balances, trace::FrameSource* frames) {
  std::vector<SiteRow> rows;
  for (auto& [key, site] : Collect(trace, view, history)) {
    SiteRow& row = site.row;
    row.key = key;
    row.heap = trace.dictionary.heap_name(key.heap);
    row.in_used = trace::FactsOf(key.heap).in_used;
    row.pinned_bytes = static_cast<std::uint64_t>(std::llround(BlameOf(balances, key)));
    Describe(trace, frames, &row);
    const std::uint64_t now = std::min(view.devices[key.device].time, trace.last_event_time);
    if (!site.shown.empty()) row.samples = Samples(site.shown, now);
    JudgeRow(trace, history, &site);
    rows.push_back(std::move(row));
  }
  std::stable_sort(rows.begin(), rows.end(), [](const SiteRow& a, const SiteRow& b) {
    return a.live_bytes != b.live_bytes ? a.live_bytes > b.live_bytes : a.place < b.place;
  });
  return rows;
}

}  // namespace cuheap::analysis
