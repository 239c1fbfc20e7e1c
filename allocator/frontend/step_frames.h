// What the Python frames of one allocation say about the program's loop. Pure: names in, facts out.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "allocator/ledger/format.h"

namespace cuheap {

// What a code object is to the step signals, told from its file and function alone.
enum class FrameRole : std::uint8_t {
  kProgram,    // anything else
  kTorch,      // inside torch: not where the program calls a signal from
  kOptimizer,  // step of an optimizer
  kBackward,   // Tensor.backward and the function below it
  kModule,     // a module's __call__
};

// `function`: the qualified name, or the plain one below CPython 3.11. Schedulers are no
// optimizers, although they have a `step` under torch/optim.
FrameRole RoleOf(std::string_view file, std::string_view function);

inline constexpr int kFrameSignals = 3;  // optimizer, backward, module: signals.def 1 to 3
constexpr format::Signal SignalOfFrame(int index) { return static_cast<format::Signal>(index + 1); }

struct StepFrame {
  FrameRole role = FrameRole::kProgram;
  std::uint64_t place = 0;  // code and instruction, by content; not 0
};

// Facts of a stack. A call site is the program's own frame that the outermost frame of a signal was
// called from, so that two optimizers of one loop stay apart.
struct StackFacts {
  static constexpr std::uint64_t kAbsent = 0;
  static constexpr std::uint64_t kUnknown =
      ~std::uint64_t{0};  // outer frames were cut: no evidence

  std::array<std::uint64_t, kFrameSignals> call_sites{};
  format::Phase phase = format::Phase::kOther;  // of the innermost signal frame
  bool operator==(const StackFacts&) const = default;
};

// `frames`: innermost first. `cut`: there were outer frames that are not in the list; then nothing
// is known to be absent.
StackFacts FactsOf(std::span<const StepFrame> frames, bool cut);

}  // namespace cuheap
