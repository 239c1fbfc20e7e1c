#include "tools/trace/trace.h"

namespace cuheap::trace {

const char* NameOf(format::Signal signal) {
  switch (signal) {
    case format::Signal::k_program:
      return "program";
    case format::Signal::k_optimizer:
      return "torch optimizer";
    case format::Signal::k_backward:
      return "torch backward";
    case format::Signal::k_module:
      return "torch module call";
    case format::Signal::k_bytes:
      return "allocated bytes";
    default:
      return "none";
  }
}

const char* NameOf(format::InstantKind kind) {
  switch (kind) {
    case format::InstantKind::kStepEnd:
      return "step";
    case format::InstantKind::kPeak:
      return "peak";
    case format::InstantKind::kFirstOom:
      return "first_oom";
    case format::InstantKind::kLastOom:
      return "oom";
    case format::InstantKind::kMark:
      return "mark";
    case format::InstantKind::kExit:
      return "exit";
  }
  return "unknown";
}

const char* NameOf(format::MarkKind kind) {
  switch (kind) {
    case format::MarkKind::kUser:
      return "user";
    case format::MarkKind::kEmptyCache:
      return "empty_cache";
    case format::MarkKind::kClockChanged:
      return "clock_changed";
    case format::MarkKind::kOutOfMemory:
      return "out_of_memory";
    case format::MarkKind::kPythonChecked:
      return "python_checked";
  }
  return "unknown";
}

const char* NameOf(format::EventKind kind) {
  constexpr const char* kNames[] = {"unknown",    "allocation",  "free",        "free_failed",
                                    "record_use", "empty_cache", "segment_map", "segment_unmap",
                                    "step",       "gap"};
  return kind <= format::EventKind::kGap ? kNames[static_cast<std::size_t>(kind)] : "unknown";
}

const char* NameOf(format::Mode mode) {
  constexpr const char* kNames[] = {"summary", "events", "full"};
  return mode <= format::Mode::kFull ? kNames[static_cast<std::size_t>(mode)] : "unknown";
}

const char* NameOf(format::Phase phase) {
  constexpr const char* kNames[] = {"other", "forward", "backward", "optimizer"};
  return phase <= format::Phase::kOptimizer ? kNames[static_cast<std::size_t>(phase)] : "unknown";
}

const char* NameOf(format::Storage storage) {
  constexpr const char* kNames[] = {"shared memory", "in place", "private memory"};
  return storage <= format::Storage::kPrivate ? kNames[static_cast<std::size_t>(storage)]
                                              : "unknown";
}

const char* NameOf(format::StackMode stacks) {
  constexpr const char* kNames[] = {"auto", "none", "tag", "python", "native", "all"};
  return stacks <= format::StackMode::kAll ? kNames[static_cast<std::size_t>(stacks)] : "unknown";
}

const char* NameOf(format::PythonFrames frames) {
  constexpr const char* kNames[] = {"no Python",
                                    "unchecked",
                                    "checked against the interpreter",
                                    "off: the walk differed from the interpreter's own",
                                    "off: this interpreter is not supported",
                                    "off by option"};
  return frames <= format::PythonFrames::kOff ? kNames[static_cast<std::size_t>(frames)]
                                              : "unknown";
}

}  // namespace cuheap::trace
