// Loaded into an interpreter by ctypes, whose CDLL releases the GIL before it calls: what
// python_frames.py compares with the interpreter's own view.
#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstring>

#include "allocator/capture/native_stack.h"
#include "allocator/capture/python_stack.h"

#define EXPORT extern "C" [[gnu::visibility("default")]]

namespace {

using namespace cuheap::capture;

constinit PythonStack stack;
std::atomic<int> check_result{-1};

struct ProbeFrame {
  std::uint64_t code;
  std::uint64_t fingerprint;
  std::uint32_t instruction;
  std::int32_t first_line;
  std::uint32_t linetable_size;
  std::uint8_t linetable[4096];
  char file[512];
  char function[512];
};

void Copy(std::string_view text, char (&out)[512]) {
  const std::size_t size = std::min(text.size(), sizeof out - 1);
  std::memcpy(out, text.data(), size);
  out[size] = 0;
}

ProbeFrame ToProbe(const PythonFrame& frame) {
  std::array<char, 1024> scratch;
  const CodeContent content = stack.Describe(frame, scratch);
  ProbeFrame out{};
  out.code = reinterpret_cast<std::uint64_t>(frame.code);
  out.fingerprint = frame.fingerprint;
  out.instruction = frame.instruction;
  out.first_line = content.first_line;
  out.linetable_size = static_cast<std::uint32_t>(content.linetable.size());
  std::memcpy(out.linetable, content.linetable.data(),
              std::min(content.linetable.size(), sizeof out.linetable));
  Copy(content.file, out.file);
  Copy(content.function, out.function);
  return out;
}

}  // namespace

EXPORT int probe_attach() {
  stack.Attach();
  return static_cast<int>(stack.state());
}
EXPORT int probe_state() { return static_cast<int>(stack.state()); }
EXPORT unsigned probe_version() { return stack.version_hex(); }
EXPORT void probe_switch_off() { stack.SwitchOff(); }
EXPORT int probe_check_result() { return check_result.load(); }
EXPORT void probe_schedule() {
  stack.ScheduleSelfCheck(
      [](PythonState state, void* context) {
        static_cast<std::atomic<int>*>(context)->store(static_cast<int>(state));
      },
      &check_result);
}

EXPORT int probe_walk(ProbeFrame* out, int* cut) {
  std::array<PythonFrame, kMaxPythonFrames> frames;
  bool was_cut = false;
  const int count = stack.Walk(frames, &was_cut);
  for (int i = 0; i < count; ++i) out[i] = ToProbe(frames[static_cast<std::size_t>(i)]);
  *cut = was_cut;
  return count;
}

// Nanoseconds of one walk, the frames of the last one through `count`.
EXPORT double probe_walk_ns(int rounds, int* count) {
  std::array<PythonFrame, kMaxPythonFrames> frames;
  bool cut = false;
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < rounds; ++i) *count = stack.Walk(frames, &cut);
  const std::chrono::duration<double, std::nano> spent = std::chrono::steady_clock::now() - begin;
  return spent.count() / rounds;
}

EXPORT int probe_native(std::uint64_t* pcs, int room) {
  const int count = WalkNative({pcs, static_cast<std::size_t>(room)}, 0);
  return count + 0 * static_cast<int>(stack.version_hex());
}

// A hundred walks in a row must see the same frames, whatever other threads do.
EXPORT int probe_walk_repeatedly(int rounds) {
  std::array<PythonFrame, kMaxPythonFrames> first, frames;
  bool cut = false;
  const int count = stack.Walk(first, &cut);
  for (int i = 0; i < rounds; ++i)
    if (stack.Walk(frames, &cut) != count ||
        !std::equal(frames.begin(), frames.begin() + count, first.begin()))
      return -1;
  return count;
}
