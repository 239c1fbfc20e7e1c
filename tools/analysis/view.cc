#include "tools/analysis/view.h"

#include <fmt/format.h>

#include <charconv>

namespace cuheap::analysis {
namespace {

using format::InstantKind;
using trace::Instant;
using trace::Trace;

constexpr std::uint64_t kEver = ~std::uint64_t{0};

template <typename Keep>
const Instant* Newest(const Trace& trace, Keep keep) {
  const Instant* found = nullptr;
  for (const Instant& instant : trace.instants) {
    if (keep(instant)) found = &instant;
  }
  return found;
}

View SameForAll(const Instant& instant, const char* kind) {
  View view;
  view.kind = kind;
  view.name = instant.name;
  view.requested_bytes = instant.requested_bytes;
  if (instant.device < format::kMaxDevices) view.leading = instant.device;
  for (std::size_t i = 0; i < view.devices.size(); ++i) {
    view.devices[i] = {instant.time, instant.step, instant.devices[i]};
  }
  return view;
}

View AtEnd(const Trace& trace) {
  View view;
  view.kind = "end";
  for (std::size_t i = 0; i < view.devices.size(); ++i) view.devices[i] = EndOf(trace, i);
  return view;
}

Result<View> AtPeak(const Trace& trace) {
  View view = AtEnd(trace);
  view.kind = "peak";
  std::uint64_t highest = 0;
  bool any = false;
  for (std::size_t i = 0; i < view.devices.size(); ++i) {
    const Instant* peak = PeakOf(trace, i);
    if (peak == nullptr) continue;
    view.devices[i] = {peak->time, peak->step, peak->devices[i]};
    if (!any || trace.devices[i].peak_live_bytes > highest) {
      highest = trace.devices[i].peak_live_bytes;
      view.leading = static_cast<std::uint8_t>(i);
    }
    any = true;
  }
  if (!any) return Error{ErrorKind::kAbsent, "no peak is recorded in it"};
  return view;
}

Result<View> AtMark(const Trace& trace, const std::string& name) {
  const Instant* mark = Newest(
      trace, [&](const Instant& i) { return i.kind == InstantKind::kMark && i.name == name; });
  if (mark != nullptr) return SameForAll(*mark, "mark");
  std::string known;
  for (const Instant& i : trace.instants) {
    if (i.kind == InstantKind::kMark) known += (known.empty() ? "" : ", ") + i.name;
  }
  return Error{
      ErrorKind::kAbsent,
      "no mark named " + name + (known.empty() ? "; it has no marks" : "; its marks: " + known)};
}

Result<View> AtNearestStep(const Trace& trace, std::uint64_t step) {
  const auto distance = [step](const Instant& i) {
    return i.step > step ? i.step - step : step - i.step;
  };
  const Instant* nearest = nullptr;
  for (const Instant& i : trace.instants) {
    if (i.kind == InstantKind::kStepEnd && (nearest == nullptr || distance(i) < distance(*nearest)))
      nearest = &i;
  }
  if (nearest == nullptr) return Error{ErrorKind::kAbsent, "no step end is recorded in it"};
  View view = SameForAll(*nearest, "step");
  if (nearest->step != step) {
    view.note = fmt::format("step {} was not kept; shown is the nearest kept step end, step {}",
                            step, nearest->step);
  }
  return view;
}

}  // namespace

Result<At> At::Parse(std::string_view text) {
  if (text == "step") return At{};
  if (text == "peak") return At{Kind::kPeak, "", 0};
  if (text == "oom") return At{Kind::kOom, "", 0};
  if (text == "end") return At{Kind::kEnd, "", 0};
  if (text.starts_with("mark:") && text.size() > 5)
    return At{Kind::kMark, std::string(text.substr(5)), 0};
  if (text.starts_with("step:")) {
    At at{Kind::kNearestStep, "", 0};
    const char* end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data() + 5, end, at.step);
    if (error == std::errc() && stop == end) return at;
  }
  return Error{ErrorKind::kAbsent,
               fmt::format("--at {}: step, peak, oom, end, mark:NAME or step:N", text)};
}

Moment EndOf(const Trace& trace, std::size_t device) {
  return {kEver - 1, trace.steps, trace.devices[device].last};
}

const Instant* LastStepEnd(const Trace& trace) {
  return Newest(trace, [](const Instant& i) { return i.kind == InstantKind::kStepEnd; });
}

const Instant* PeakOf(const Trace& trace, std::size_t device) {
  return Newest(trace, [device](const Instant& i) {
    return i.kind == InstantKind::kPeak && i.device == device;
  });
}

const Instant* LastOutOfMemory(const Trace& trace) {
  return Newest(trace, [](const Instant& i) {
    return i.kind == InstantKind::kFirstOom || i.kind == InstantKind::kLastOom;
  });
}

Result<View> ViewAt(const Trace& trace, const At& at) {
  const Instant* found = nullptr;
  switch (at.kind) {
    case At::Kind::kPeak:
      return AtPeak(trace);
    case At::Kind::kMark:
      return AtMark(trace, at.mark);
    case At::Kind::kNearestStep:
      return AtNearestStep(trace, at.step);
    case At::Kind::kOom:
      found = LastOutOfMemory(trace);
      if (found == nullptr) return Error{ErrorKind::kAbsent, "memory never ran out in it"};
      return SameForAll(*found, "oom");
    case At::Kind::kStep:
      found = LastStepEnd(trace);
      if (found != nullptr) return SameForAll(*found, "step");
      break;
    case At::Kind::kEnd:
      break;
  }
  View view = AtEnd(trace);
  if (at.kind == At::Kind::kStep) view.note = "no step end was seen; shown is the end of the file";
  return view;
}

}  // namespace cuheap::analysis
