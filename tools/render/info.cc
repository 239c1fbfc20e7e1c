#include "tools/render/info.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "tools/analysis/notes.h"
#include "tools/analysis/words.h"
#include "tools/render/paint.h"

namespace cuheap::render {
namespace {

using analysis::SizeText;
using analysis::TimeText;
using trace::Trace;

std::string Line(const char* name, const std::string& value) {
  return fmt::format("{:<14}{}\n", name, Safe(value));
}

std::string WallText(std::uint64_t nanoseconds) {
  const auto seconds = static_cast<std::time_t>(nanoseconds / 1'000'000'000u);
  constexpr std::time_t kLast = 253402300799;  // the year 9999
  return seconds > kLast ? "unknown"
                         : fmt::format("{:%Y-%m-%d %H:%M:%S} UTC", fmt::gmtime(seconds));
}

std::string CompletenessText(const Trace& trace) {
  std::string text;
  for (const std::string& sentence : analysis::MissingFrom(trace))
    text += (text.empty() ? "" : "; ") + sentence;
  return text.empty() ? "complete, closed by the process" : text;
}

std::string DroppedText(const Trace& trace) {
  std::string text;
#define CUHEAP_DROP(counter, what) \
  if (trace.dropped.counter != 0)  \
    text += fmt::format("{}{} {}", text.empty() ? "" : "; ", trace.dropped.counter, what);
  CUHEAP_DROPS(CUHEAP_DROP)
#undef CUHEAP_DROP
  return text.empty() ? "nothing" : text;
}

std::string ClockText(const Trace& trace) {
  std::string text =
      fmt::format("{}, {} steps, {} by weaker clocks before; ticks:", trace::NameOf(trace.clock),
                  trace.steps, trace.clock_since_step);
  for (std::size_t i = 0; i < trace.ticks.size(); ++i) {
    text +=
        fmt::format(" {} {}", trace::NameOf(static_cast<format::Signal>(i)), trace.signal_ticks[i]);
  }
  return text;
}

std::string PythonText(const trace::Identity& identity) {
  const std::string frames = trace::NameOf(identity.python_frames);
  if (identity.python_version == 0) return frames;
  return fmt::format("{}.{}, frames {}", identity.python_version >> 24,
                     identity.python_version >> 16 & 0xff, frames);
}

std::string DevicesText(const Trace& trace) {
  std::string text;
  for (std::size_t i = 0; i < trace.devices.size(); ++i) {
    const trace::Device& device = trace.devices[i];
    if (!device.seen()) continue;
    std::string facts =
        fmt::format("{}: {}, peak live {}", i, SizeText(static_cast<double>(device.total_bytes)),
                    SizeText(static_cast<double>(device.peak_live_bytes)));
    for (const std::string& name : {device.uuid, device.pci_bus_id}) {
      if (!name.empty()) facts += ", " + name;
    }
    text += Line("device", facts + (device.mig ? ", MIG" : ""));
  }
  return text;
}

}  // namespace

std::string Info(const Trace& trace) {
  const trace::Identity& identity = trace.identity;
  std::string out = Line("file", trace.path);
  out += Line("format", fmt::format("{}.{}", format::kMajor, trace.minor));
  out += Line("state", CompletenessText(trace));
  out += Line("dropped", DroppedText(trace));
  out += Line("size", fmt::format("{} ({} bytes), storage: {}",
                                  SizeText(static_cast<double>(trace.file_bytes)), trace.file_bytes,
                                  trace::NameOf(identity.storage)));
  out += Line("program", identity.program);
  out += Line("process", fmt::format("pid {} on {}, started {}, opened {} before", identity.pid,
                                     identity.host, WallText(identity.wall_start_ns),
                                     analysis::CountText(identity.exec_count, "file", "files")));
  if (identity.rank >= 0)
    out += Line("rank", fmt::format("{} of {}", identity.rank, identity.world_size));
  if (!identity.run_id.empty()) out += Line("run", identity.run_id);
  out += Line("options", identity.options.empty() ? "defaults" : identity.options);
  out += Line("stacks", trace::NameOf(identity.stacks));
  out += Line("python", PythonText(identity));
  out += Line("clock", ClockText(trace));
  out += Line("last event", TimeText(trace.last_event_time));
  out += Line(
      "doors",
      fmt::format("runtime calls {}, driver calls {}, torch events {}, entry point look-ups {}",
                  trace.doors.runtime_calls, trace.doors.driver_calls,
                  trace.events_of(format::Heap::k_torch), trace.doors.entry_point_lookups));
  out += DevicesText(trace);
  out += Line(
      "records",
      fmt::format(
          "{} blocks, {} instants, {} marks, {} sites, {} code objects, {} modules, {} strings",
          trace.blocks.size(), trace.instants.size(), trace.marks.size(),
          trace.dictionary.site_count(), trace.dictionary.code_count(),
          trace.dictionary.module_count(), trace.dictionary.string_count()));
  if (trace.mode != format::Mode::kSummary)
    out += Line("events", fmt::format("{}: {} kept, {} not", trace::NameOf(trace.mode),
                                      trace.events.size(), trace.dropped_events));
  return out + "\nnext: cuheap report " + ShellWord(trace.path) + "\n";
}

}  // namespace cuheap::render
