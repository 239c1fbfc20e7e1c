#include "tools/render/json.h"

#include "tools/render/text.h"

namespace cuheap::render {
namespace {

using analysis::Balance;
using analysis::Report;
using analysis::SiteRow;
using Json = nlohmann::ordered_json;

template <typename T>
Json OrNull(const std::optional<T>& value) {
  return value.has_value() ? Json(*value) : Json(nullptr);
}

Json OrNull(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }

Json StepsOf(const Report& report) {
  return {{"count", report.trace->steps},
          {"warmup", report.horizon.warmup},
          {"clock", trace::NameOf(report.trace->clock)},
          {"judged", report.horizon.judged_steps()},
          {"before_clock", report.trace->clock_since_step}};
}

std::uint64_t TimeOf(const Report& report, const analysis::Moment& moment) {
  return std::min(moment.time, std::max(report.trace->last_event_time, report.trace->close_time));
}

Json InstantOf(const Report& report) {
  return {
      {"kind", report.view.kind},
      {"step", report.view.moment().step},
      {"time", TimeOf(report, report.view.moment())},
      {"device", report.view.kind == "peak" || report.view.kind == "oom" ? Json(report.view.leading)
                                                                         : Json(nullptr)},
      {"name", OrNull(report.view.name)}};
}

Json InstantsOf(const trace::Trace& trace) {
  Json list = Json::array();
  for (const trace::Instant& instant : trace.instants) {
    list.push_back(
        {{"kind", trace::NameOf(instant.kind)},
         {"step", instant.step},
         {"time", instant.time},
         {"device", instant.device < format::kMaxDevices ? Json(instant.device) : Json(nullptr)},
         {"name", OrNull(instant.name)},
         {"requested_bytes",
          instant.requested_bytes != 0 ? Json(instant.requested_bytes) : Json(nullptr)}});
  }
  return list;
}

Json DeviceOf(const Report& report, std::size_t i) {
  const Balance& balance = report.balances[i];
  const trace::Device& device = report.trace->devices[balance.device];
  const bool knows_free = balance.used.has_value() && balance.total >= *balance.used;
  return {{"index", balance.device},
          {"uuid", OrNull(device.uuid)},
          {"pci", OrNull(device.pci_bus_id)},
          {"total", balance.total != 0 ? Json(balance.total) : Json(nullptr)},
          {"free", knows_free ? Json(balance.total - *balance.used) : Json(nullptr)},
          {"used", OrNull(balance.used)},
          {"used_source", balance.used.has_value() ? Json("driver") : Json(nullptr)},
          {"used_time",
           balance.used.has_value() ? Json(balance.moment.figures.sample_time) : Json(nullptr)},
          {"live", balance.live},
          {"rounding", OrNull(balance.rounding)},
          {"holes", balance.holes},
          {"idle", balance.idle},
          {"waiting", OrNull(balance.waiting)},
          {"untracked", OrNull(balance.untracked)},
          {"untracked_growth_per_step", OrNull(report.untracked_growth[i])},
          {"other_processes", nullptr},
          {"peak_live", report.peaks[i].live_bytes},
          {"peak_step", OrNull(report.peaks[i].step)},
          {"full_in_steps", OrNull(report.full_in_steps[i])},
          {"step", balance.moment.step},
          {"time", TimeOf(report, balance.moment)}};
}

Json HeapsOf(const Report& report) {
  Json list = Json::array();
  for (const Balance& balance : report.balances) {
    for (const analysis::HeapRow& row : balance.heaps) {
      const trace::HeapFacts facts = trace::FactsOf(row.heap);
      list.push_back({{"device", balance.device},
                      {"heap", row.name},
                      {"in_used", row.in_used},
                      {"live", row.live},
                      {"live_blocks", row.live_blocks},
                      {"rounding", OrNull(row.rounding)},
                      {"holes", row.holes},
                      {"idle", row.idle},
                      {"waiting", OrNull(row.waiting)},
                      {"reserved", row.reserved()},
                      {"sees_requested", facts.sees_requested},
                      {"sees_waiting", facts.sees_waiting},
                      {"sees_pool", facts.sees_pool}});
    }
  }
  return list;
}

Json FramesOf(const std::vector<trace::Frame>& frames) {
  Json list = Json::array();
  for (const trace::Frame& frame : frames) {
    list.push_back({{"function", frame.function},
                    {"file", OrNull(frame.file)},
                    {"line", frame.line > 0 ? Json(frame.line) : Json(nullptr)},
                    {"language", frame.python ? "python" : "native"}});
  }
  return list;
}

Json SamplesOf(const SiteRow& row) {
  Json list = Json::array();
  for (const analysis::SampleBlock& block : row.samples) {
    list.push_back({{"address", block.address},
                    {"bytes", block.bytes},
                    {"birth_step", block.birth_step},
                    {"birth_time", block.birth_time},
                    {"age", block.age_ns}});
  }
  return list;
}

Json SiteOf(const SiteRow& row) {
  const bool judged = row.judgement.verdict != analysis::Verdict::kNone;
  return {{"heap", row.heap},
          {"device", row.key.device},
          {"owner", OrNull(row.owner)},
          {"tags", row.tags},
          {"verdict", judged ? Json(analysis::NameOf(row.judgement.verdict)) : Json(nullptr)},
          {"confidence", OrNull(std::string(analysis::NameOf(row.judgement.confidence)))},
          {"why", OrNull(row.why)},
          {"place", row.place},
          {"live_bytes", row.live_bytes},
          {"live_blocks", row.live_blocks},
          {"peak_bytes", row.peak_bytes},
          {"at_peak_bytes", row.at_peak_bytes},
          {"total_blocks", row.total_blocks},
          {"freed_blocks", row.freed_blocks},
          {"surviving_steps", row.surviving_steps},
          {"growth_bytes_per_step", OrNull(row.growth)},
          {"pinned_bytes", row.pinned_bytes},
          {"samples", SamplesOf(row)},
          {"frames", FramesOf(row.frames)}};
}

Json FragmentationOf(const Report& report) {
  Json list = Json::array();
  for (const analysis::Fragmentation& row : report.fragmentation) {
    list.push_back({{"device", row.device},
                    {"heap", row.heap},
                    {"largest_hole", row.figures.largest_hole},
                    {"hole_bytes", row.figures.holes},
                    {"realized", OrNull(row.realized)},
                    {"segments", row.figures.segments},
                    {"reserved", row.figures.reserved},
                    {"idle", row.figures.idle},
                    {"idle_segments", row.figures.idle_segments},
                    {"culprits", row.culprits}});
  }
  return list;
}

Json DroppedOf(const trace::Trace& trace) {
  Json json = Json::object();
#define CUHEAP_DROP(counter, what) json[#counter] = trace.dropped.counter;
  CUHEAP_DROPS(CUHEAP_DROP)
#undef CUHEAP_DROP
  json["damaged_records"] = trace.completeness.damaged_records;
  json["torn_records"] = trace.completeness.torn_records;
  return json;
}

Json ProcessOf(const trace::Trace& trace) {
  const trace::Identity& identity = trace.identity;
  return {{"run_id", OrNull(identity.run_id)},
          {"host", identity.host},
          {"pid", identity.pid},
          {"rank", identity.rank >= 0 ? Json(identity.rank) : Json(nullptr)},
          {"world_size", identity.world_size >= 0 ? Json(identity.world_size) : Json(nullptr)},
          {"program", identity.program},
          {"options", identity.options},
          {"start_wall_ns", identity.wall_start_ns},
          {"running", trace.completeness.running},
          {"clean_close", trace.completeness.clean_close}};
}

}  // namespace

Json ToJson(const Report& report) {
  Json json;
  json["schema"] = "cuheap.report/1";
  json["file"] = report.trace->path;
  json["process"] = ProcessOf(*report.trace);
  json["complete"] = report.complete;
  json["missing"] = report.missing;
  json["attached"] = report.attached;
  json["verdict"] = VerdictLine(report);
  json["clock"] = trace::NameOf(report.trace->clock);
  json["steps"] = StepsOf(report);
  json["instant"] = InstantOf(report);
  json["instants"] = InstantsOf(*report.trace);
  json["devices"] = Json::array();
  for (std::size_t i = 0; i < report.balances.size(); ++i)
    json["devices"].push_back(DeviceOf(report, i));
  json["heaps"] = HeapsOf(report);
  json["sites"] = Json::array();
  for (const SiteRow& row : report.sites) json["sites"].push_back(SiteOf(row));
  json["fragmentation"] = FragmentationOf(report);
  json["dropped"] = DroppedOf(*report.trace);
  json["notes"] = report.notes;
  return json;
}

std::string Dump(const Json& json, int indent) {
  return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

}  // namespace cuheap::render
