// The instant that a report shows. Devices may be shown at instants of their own: each has its own
// peak.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "tools/trace/result.h"
#include "tools/trace/trace.h"

namespace cuheap::analysis {

struct At {
  enum class Kind { kStep, kPeak, kOom, kEnd, kMark, kNearestStep };
  Kind kind = Kind::kStep;
  std::string mark;
  std::uint64_t step = 0;

  // "step", "peak", "oom", "end", "mark:NAME" or "step:N".
  static Result<At> Parse(std::string_view text);
};

struct Moment {
  std::uint64_t time = 0;
  std::uint64_t step = 0;
  format::DeviceFigures figures{};
};

struct View {
  std::string kind;                   // "step", "peak", "oom", "end" or "mark"
  std::string name;                   // of a mark
  std::string note;                   // where it is not quite what was asked for; else empty
  std::uint8_t leading = 0;           // the device whose moment stands for the whole
  std::uint64_t requested_bytes = 0;  // of the request that failed
  std::array<Moment, format::kMaxDevices> devices{};

  const Moment& moment() const { return devices[leading]; }
};

Result<View> ViewAt(const trace::Trace& trace, const At& at);

// The state at the end of the file.
Moment EndOf(const trace::Trace& trace, std::size_t device);
// The newest kept step end; nullptr when no step has ended.
const trace::Instant* LastStepEnd(const trace::Trace& trace);
// Where memory ran out last; nullptr: it never did.
const trace::Instant* LastOutOfMemory(const trace::Trace& trace);
// The highest state of a device that was kept; nullptr when it never held anything.
const trace::Instant* PeakOf(const trace::Trace& trace, std::size_t device);

}  // namespace cuheap::analysis
