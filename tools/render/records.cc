#include "tools/render/records.h"

#include <fmt/format.h>

#include "tools/render/json.h"
#include "tools/render/paint.h"

namespace cuheap::render {
namespace {

using Json = nlohmann::ordered_json;
using trace::Trace;

Json BlockOf(const Trace& trace, const trace::Block& block) {
  return {{"record", "block"},
          {"heap", trace.dictionary.heap_name(block.heap)},
          {"device", block.device},
          {"address", block.address},
          {"block_bytes", block.block_bytes},
          {"requested_bytes", block.requested_bytes},
          {"birth_time", block.birth_time},
          {"free_time", block.free_time},
          {"birth_step", block.birth_step},
          {"site", block.site},
          {"stream", block.stream},
          {"thread", block.thread},
          {"arena", block.arena},
          {"phase", trace::NameOf(block.phase)},
          {"flags", block.flags},
          {"segment_of", block.flags == 0 ? Json(nullptr)
                                          : Json(trace.dictionary.heap_name(block.segment_heap))}};
}

Json InstantOf(const trace::Instant& instant) {
  Json json = {{"record", "instant"},
               {"kind", trace::NameOf(instant.kind)},
               {"time", instant.time},
               {"step", instant.step},
               {"name", instant.name},
               {"device", instant.device},
               {"requested_bytes", instant.requested_bytes}};
  for (std::size_t i = 0; i < instant.devices.size(); ++i) {
    const format::DeviceFigures& figures = instant.devices[i];
    if (figures.live_bytes == 0 && figures.sample_time == 0) continue;
    json[fmt::format("device{}_live", i)] = figures.live_bytes;
    json[fmt::format("device{}_used", i)] = figures.used_bytes;
    json[fmt::format("device{}_sample_time", i)] = figures.sample_time;
  }
  return json;
}

Json SiteOf(const Trace& trace, std::uint32_t id, const std::vector<trace::Frame>& frames) {
  const trace::Site& site = trace.dictionary.site(id);
  const trace::Totals& totals = trace.totals_of(id);
  Json stack = Json::array();
  for (const trace::Frame& frame : frames)
    stack.push_back(fmt::format("{} {}:{}", frame.function, frame.file, frame.line));
  return {{"record", "site"},
          {"id", id},
          {"heap", trace.dictionary.heap_name(site.heap)},
          {"owner", trace.dictionary.module(site.owner).path},
          {"tags", trace.dictionary.tags(site.tags)},
          {"flags", site.flags},
          {"blocks", totals.blocks},
          {"bytes", totals.bytes},
          {"freed_blocks", totals.freed_blocks},
          {"live_bytes", totals.live_bytes},
          {"peak_bytes", totals.peak_bytes},
          {"steps_lived", totals.steps_lived},
          {"frames", stack}};
}

Json EventOf(const Trace& trace, const trace::Event& event) {
  Json json = {{"record", "event"}, {"kind", trace::NameOf(event.kind)}, {"time", event.time}};
  if (event.kind == format::EventKind::kStep) return json;
  if (event.kind == format::EventKind::kGap) {
    json["lost"] = event.address;
    return json;
  }
  json["heap"] = trace.dictionary.heap_name(event.heap);
  json["address"] = event.address;
  json["bytes"] = event.bytes;
  json["stream"] = event.stream;
  json["arena"] = event.arena;
  json["device"] = event.device;
  json["phase"] = trace::NameOf(event.phase);
  return json;
}

}  // namespace

void EachRecord(const Trace& trace, trace::FrameSource* frames,
                const std::function<void(const Json&)>& take) {
  const trace::Dictionary& names = trace.dictionary;
  for (std::uint32_t id = 1; id <= names.module_count(); ++id) {
    const trace::Module& module = names.module(id);
    std::string build_id;
    for (const std::uint8_t octet : module.build_id) build_id += fmt::format("{:02x}", octet);
    take({{"record", "module"},
          {"id", id},
          {"path", module.path},
          {"build_id", build_id},
          {"load_bias", module.load_bias}});
  }
  for (std::uint32_t id = 1; id <= names.thread_count(); ++id) {
    take({{"record", "thread"},
          {"id", id},
          {"tid", names.thread(id).tid},
          {"name", names.thread(id).name}});
  }
  for (std::uint32_t id = 1; id <= names.stream_count(); ++id) {
    take({{"record", "stream"},
          {"id", id},
          {"handle", names.stream(id).handle},
          {"device", names.stream(id).device}});
  }
  for (std::uint32_t id = 1; id <= names.site_count(); ++id)
    take(SiteOf(trace, id, frames->FramesOf(id)));
  for (const trace::Block& block : trace.blocks) take(BlockOf(trace, block));
  for (const trace::Instant& instant : trace.instants) take(InstantOf(instant));
  for (const trace::Mark& mark : trace.marks) {
    take({{"record", "mark"},
          {"kind", trace::NameOf(mark.kind)},
          {"time", mark.time},
          {"step", mark.step},
          {"value", mark.value},
          {"name", mark.name},
          {"device", mark.device}});
  }
  for (const trace::Event& event : trace.events) take(EventOf(trace, event));
  for (std::size_t signal = 0; signal < trace.ticks.size(); ++signal) {
    for (const format::TickRecord& tick : trace.ticks[signal]) {
      take({{"record", "tick"},
            {"signal", trace::NameOf(static_cast<format::Signal>(signal))},
            {"number", tick.number},
            {"time", tick.time}});
    }
  }
}

std::string RecordLine(const Json& record) {
  std::string line = record.at("record").get<std::string>();
  for (const auto& [name, value] : record.items()) {
    if (name == "record") continue;
    const bool is_address = name == "address" || name == "handle" || name == "load_bias";
    line += fmt::format(
        " {}={}", name,
        is_address ? fmt::format("{:#x}", value.get<std::uint64_t>()) : Dump(value, -1));
  }
  return Safe(line);
}

}  // namespace cuheap::render
