#include "allocator/frontend/step_frames.h"

namespace cuheap {
namespace {

constexpr std::string_view kTorchFolder = "/torch/";

// The path below the last folder named torch; empty when there is none.
std::string_view BelowTorch(std::string_view file) {
  const std::size_t at = file.rfind(kTorchFolder);
  return at == std::string_view::npos ? std::string_view() : file.substr(at + kTorchFolder.size());
}

std::string_view LastName(std::string_view qualified) {
  const std::size_t dot = qualified.rfind('.');
  return dot == std::string_view::npos ? qualified : qualified.substr(dot + 1);
}

bool IsOptimizerStep(std::string_view path, std::string_view name) {
  if (!path.starts_with("optim/") || path == "optim/lr_scheduler.py") return false;
  // The base class wraps `step` of every subclass, those of other packages included.
  return name == "step" || (name == "wrapper" && path == "optim/optimizer.py");
}

bool IsBackward(std::string_view path, std::string_view name) {
  return name == "backward" && (path == "_tensor.py" || path == "autograd/__init__.py");
}

bool IsModuleCall(std::string_view path, std::string_view name) {
  return path == "nn/modules/module.py" &&
         (name == "_wrapped_call_impl" || name == "_call_impl" || name == "__call__");
}

// Torch's own code that stands between the program and a signal. A program's folder that happens to
// be named torch does not look like this.
bool IsTorchs(std::string_view path) {
  constexpr std::string_view kParts[] = {"optim/",     "nn/",        "autograd/",    "amp/",
                                         "cuda/",      "utils/",     "distributed/", "_dynamo/",
                                         "_inductor/", "_tensor.py", "_compile.py"};
  for (std::string_view part : kParts)
    if (path.starts_with(part)) return true;
  return false;
}

constexpr int IndexOf(FrameRole role) {
  return static_cast<int>(role) - static_cast<int>(FrameRole::kOptimizer);
}

constexpr format::Phase PhaseOf(FrameRole role) {
  switch (role) {
    case FrameRole::kOptimizer:
      return format::Phase::kOptimizer;
    case FrameRole::kBackward:
      return format::Phase::kBackward;
    case FrameRole::kModule:
      return format::Phase::kForward;
    default:
      return format::Phase::kOther;
  }
}

}  // namespace

FrameRole RoleOf(std::string_view file, std::string_view function) {
  const std::string_view path = BelowTorch(file);
  if (path.empty()) return FrameRole::kProgram;
  const std::string_view name = LastName(function);
  if (IsOptimizerStep(path, name)) return FrameRole::kOptimizer;
  if (IsBackward(path, name)) return FrameRole::kBackward;
  if (IsModuleCall(path, name)) return FrameRole::kModule;
  return IsTorchs(path) ? FrameRole::kTorch : FrameRole::kProgram;
}

StackFacts FactsOf(std::span<const StepFrame> frames, bool cut) {
  StackFacts facts;
  if (cut) facts.call_sites.fill(StackFacts::kUnknown);
  // Outwards: a signal frame further out takes over, so the program's frame behind the outermost
  // one is what stays.
  std::array<bool, kFrameSignals> waiting{};
  for (const StepFrame& frame : frames) {
    if (frame.role == FrameRole::kProgram) {
      for (std::size_t i = 0; i < waiting.size(); ++i) {
        if (waiting[i]) facts.call_sites[i] = frame.place;
        waiting[i] = false;
      }
    } else if (const int index = IndexOf(frame.role); index >= 0) {
      waiting[static_cast<std::size_t>(index)] = true;
      if (facts.phase == format::Phase::kOther) facts.phase = PhaseOf(frame.role);
    }
  }
  constexpr std::uint64_t kCalledByNobody = 1;
  for (std::size_t i = 0; i < waiting.size(); ++i)
    if (waiting[i]) facts.call_sites[i] = cut ? StackFacts::kUnknown : kCalledByNobody;
  // The outermost module call may be among the frames that were cut: what is seen is an inner one.
  if (cut)
    facts.call_sites[static_cast<std::size_t>(IndexOf(FrameRole::kModule))] = StackFacts::kUnknown;
  return facts;
}

}  // namespace cuheap
