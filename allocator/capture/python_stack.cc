#include "allocator/capture/python_stack.h"

#include <iterator>

#include "allocator/capture/python_self_check.h"
#include "allocator/capture/python_text.h"
#include "allocator/capture/python_walk.h"

namespace cuheap::capture {
namespace {

// Of the largest functions that people generate; a larger number is a broken object.
constexpr std::uint64_t kLongestLinetable = 1 << 22;

template <int kMinor>
[[gnu::hot]] int WalkKnown(const PythonLayout&, const void* code_type, std::uintptr_t thread,
                           std::span<PythonFrame> frames, bool* cut) {
  return FrameWalk<DirectReader, TableLayout<kMinor>>({}, code_type).Run(thread, frames, cut);
}

int WalkGiven(const PythonLayout& layout, const void* code_type, std::uintptr_t thread,
              std::span<PythonFrame> frames, bool* cut) {
  return FrameWalk<DirectReader, GivenLayout>({layout}, code_type).Run(thread, frames, cut);
}

// A layout that is the table's own is walked with its offsets compiled in.
auto ChooseWalk(const PythonLayout& layout) {
  constexpr decltype(&WalkGiven) kKnown[] = {WalkKnown<9>, WalkKnown<10>, WalkKnown<11>,
                                             WalkKnown<12>, WalkKnown<13>};
  for (int i = 0; i < static_cast<int>(std::size(kKnown)); ++i)
    if (layout == PythonLayout::FromTable(PythonLayout::kFirstMinor + i)) return kKnown[i];
  return &WalkGiven;
}

}  // namespace

void PythonStack::Leave(PythonState from, PythonState to) const {
  state_.compare_exchange_strong(from, to, std::memory_order_release, std::memory_order_relaxed);
}

void PythonStack::Attach() {
  if (state_.load(std::memory_order_acquire) != PythonState::kNoPython) return;
  if (attaching_.exchange(true, std::memory_order_acquire)) return;
  if (state_.load(std::memory_order_relaxed) == PythonState::kNoPython) {
    FindPythonApi(&api_);
    if (api_.can_walk && api_.Py_IsInitialized() != 0) {
      version_hex_ = ParsePythonVersion(api_.Py_GetVersion());
      const bool known = ReadPythonLayout(version_hex_, api_.runtime, &layout_);
      direct_walk_ = ChooseWalk(layout_);
      Leave(PythonState::kNoPython, known ? PythonState::kUnchecked : PythonState::kUnsupported);
    }
  }
  attaching_.store(false, std::memory_order_release);
}

[[gnu::hot]] int PythonStack::Walk(std::span<PythonFrame> frames, bool* cut) const {
  *cut = false;
  const PythonState state = state_.load(std::memory_order_acquire);
  if (state != PythonState::kChecked && state != PythonState::kUnchecked) return 0;
  if (api_.is_finalizing() != 0) return 0;
  const auto thread = reinterpret_cast<std::uintptr_t>(api_.PyGILState_GetThisThreadState());
  if (thread == 0) return 0;
  // New interpreters are put in front of the list, so the main one heads it only when alone.
  if (api_.PyInterpreterState_Head() != api_.PyInterpreterState_Main()) {
    Leave(state, PythonState::kUnsupported);
    return 0;
  }
  if (state == PythonState::kUnchecked && careful_walks_left_.load(std::memory_order_relaxed) > 0)
    return WalkCarefully(thread, frames, cut);
  return direct_walk_(layout_, api_.code_type, thread, frames, cut);
}

int PythonStack::WalkCarefully(std::uintptr_t thread, std::span<PythonFrame> frames,
                               bool* cut) const {
  FrameWalk<CarefulReader, GivenLayout> walk({layout_}, api_.code_type);
  const int count = walk.Run(thread, frames, cut);
  if (walk.failed()) Leave(PythonState::kUnchecked, PythonState::kDiffer);
  if (count > 0) careful_walks_left_.fetch_sub(1, std::memory_order_relaxed);
  return count;
}

CodeContent PythonStack::Describe(const PythonFrame& frame, std::span<char> scratch) const {
  const auto code = reinterpret_cast<std::uintptr_t>(frame.code);
  // A layout that has not proved itself may take anything for a pointer.
  const auto pointer = [code, proved = state() == PythonState::kChecked](std::uint16_t field) {
    const auto object = Load<std::uintptr_t>(code + field);
    return proved || IsReadable(object) ? object : 0;
  };
  CodeContent content{};
  content.file = ReadPythonText(layout_, pointer(layout_.code_file), &scratch);
  content.function = ReadPythonText(layout_, pointer(layout_.code_function), &scratch);
  content.first_line = Load<std::int32_t>(code + layout_.code_first_line);
  if (const std::uintptr_t table = pointer(layout_.code_linetable); table != 0) {
    const std::uintptr_t text = table + layout_.bytes_text;
    const auto size = Load<std::uint64_t>(table + layout_.bytes_size);
    if (size <= kLongestLinetable && ReadableUpTo(text, text + size) == text + size)
      content.linetable = {reinterpret_cast<const std::uint8_t*>(text), size};
  }
  return content;
}

void PythonStack::ScheduleSelfCheck(Checked checked, void* context) {
  if (state_.load(std::memory_order_acquire) != PythonState::kUnchecked || !api_.can_check) return;
  if (api_.is_finalizing() != 0 || check_pending_.exchange(true, std::memory_order_acquire)) return;
  checked_ = checked;
  checked_context_ = context;
  // Its queue is short; when full, the next call of this function tries again.
  if (api_.Py_AddPendingCall(RunSelfCheck, this) != 0)
    check_pending_.store(false, std::memory_order_release);
}

int PythonStack::RunSelfCheck(void* self) {
  auto* const stack = static_cast<PythonStack*>(self);
  const Checked checked = stack->checked_;
  void* const context = stack->checked_context_;
  stack->check_pending_.store(false, std::memory_order_release);
  if (stack->state() != PythonState::kUnchecked || stack->api_.is_finalizing() != 0) return 0;
  stack->careful_walks_left_.store(kCarefulWalks, std::memory_order_relaxed);
  const WalkVerdict verdict = CompareWalk(*stack, stack->api_);
  if (verdict == WalkVerdict::kNothingToCompare) return 0;
  stack->Leave(PythonState::kUnchecked,
               verdict == WalkVerdict::kSame ? PythonState::kChecked : PythonState::kDiffer);
  if (checked != nullptr) checked(stack->state(), context);
  return 0;
}

}  // namespace cuheap::capture
