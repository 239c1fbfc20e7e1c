// The call stack of a site in words. A seam: analysis asks for frames without knowing where they
// come from.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "tools/trace/symbolizer.h"
#include "tools/trace/trace.h"

namespace cuheap::trace {

class FrameSource {
 public:
  virtual ~FrameSource() = default;
  // Innermost first; empty for an unknown site. Any id.
  virtual const std::vector<Frame>& FramesOf(std::uint32_t site) = 0;
};

// Frames of a trace: Python lines by the recorded line tables, native ones by the modules on this
// machine. Every answer is kept. REQUIRES: the trace outlives this.
class TraceFrames final : public FrameSource {
 public:
  explicit TraceFrames(const Trace& trace) : trace_(trace) {}
  const std::vector<Frame>& FramesOf(std::uint32_t site) override;

 private:
  void Append(std::uint64_t frame, std::vector<Frame>* frames);

  const Trace& trace_;
  Symbolizer symbolizer_;
  std::map<std::uint32_t, std::vector<Frame>> sites_;
  std::map<std::uint64_t, std::vector<Frame>> native_;
};

}  // namespace cuheap::trace
