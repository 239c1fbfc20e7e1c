// Any bytes through everything that reads traces: parsing, analysis, text, JSON, records, events.
// The corpus holds small traces and what a fuzzer found; every build replays it.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "tools/analysis/report.h"
#include "tools/render/info.h"
#include "tools/render/json.h"
#include "tools/render/records.h"
#include "tools/render/text.h"
#include "tools/replay/trace_events.h"
#include "tools/trace/reader.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace cuheap;
  std::vector<std::uint64_t> aligned(size / 8 + 1);
  if (size != 0) std::memcpy(aligned.data(), data, size);
  const Result<trace::Trace> trace =
      trace::ParseTrace(std::as_bytes(std::span(aligned)).first(size), "fuzz");
  if (!trace.ok()) return 0;
  trace::TraceFrames frames(*trace);
  for (const char* at : {"step", "peak", "oom", "end", "step:5"}) {
    const Result<analysis::Report> report =
        analysis::MakeReport(*trace, {*analysis::At::Parse(at), {}, {}}, &frames);
    if (!report.ok()) continue;
    render::Text(*report, {20, true});
    render::Dump(render::ToJson(*report), -1);
  }
  for (const char* heap : {"", "driver"}) {
    const Result<replay::OpStream> stream = replay::ReadTraceEvents(*trace, heap);
    if (stream.ok() && !replay::FirstBrokenLaw(*stream).empty()) std::abort();
  }
  render::Info(*trace);
  render::EachRecord(*trace, &frames, [](const auto& record) { render::RecordLine(record); });
  return 0;
}
