#include "tools/trace/frames.h"

#include <fmt/format.h>

#include "tools/trace/line_table.h"

namespace cuheap::trace {

const std::vector<Frame>& TraceFrames::FramesOf(std::uint32_t site) {
  const auto [place, is_new] = sites_.try_emplace(site);
  if (is_new) {
    for (const std::uint64_t frame : trace_.dictionary.site(site).frames)
      Append(frame, &place->second);
  }
  return place->second;
}

void TraceFrames::Append(std::uint64_t frame, std::vector<Frame>* frames) {
  switch (format::KindOf(frame)) {
    case format::FrameKind::kPython: {
      const Code& code = trace_.dictionary.code(format::CodeOf(frame));
      const auto line = LineOf(trace_.identity.python_version, code.line_table, code.first_line,
                               format::InstructionOf(frame));
      frames->push_back({code.function, code.file, line.value_or(code.first_line), true});
      return;
    }
    case format::FrameKind::kNative: {
      const auto [place, is_new] = native_.try_emplace(frame);
      if (is_new) {
        const Module& module = trace_.dictionary.module(format::ModuleOf(frame));
        place->second = symbolizer_.Resolve(module, format::OffsetOf(frame));
      }
      frames->insert(frames->end(), place->second.begin(), place->second.end());
      return;
    }
    case format::FrameKind::kRaw:
      break;
  }
  frames->push_back({fmt::format("{:#x}", format::AddressOf(frame)), "", 0, false});
}

}  // namespace cuheap::trace
