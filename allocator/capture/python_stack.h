// Python frames of the calling thread, read raw: no GIL, no allocation, no lock, bounded. A thread
// that is in native code cannot change its own frame chain, and running frames keep their code
// objects alive, so plain reads are safe.
//
// Laws
//   1. Read-only: nothing of the interpreter's is written or locked. A walk calls three of its
//   functions that only return a value and need no GIL (this thread's state, the first interpreter,
//   whether it is finalising).
//   2. Unknown version, free-threaded build, a second interpreter in the process: no frames, never
//   a guess; state() says why.
//   3. A broken chain ends the walk; it never crashes the job. Until a layout has proved itself
//   (the self-check, or as many walks as kCarefulWalks) every address is asked for before it is
//   read.
//   4. While the interpreter finalises there are no frames: it frees the states of threads that
//   still run.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>
#include <string_view>

#include "allocator/capture/python_api.h"
#include "allocator/capture/python_layout.h"

namespace cuheap::capture {

inline constexpr int kMaxPythonFrames = 64;  // the innermost are kept

struct PythonFrame {
  const void* code;           // address of the code object
  std::uint64_t fingerprint;  // of its content's addresses and sizes: tells a code object from
                              // another one at a reused address
  std::uint32_t instruction;  // byte offset of the current instruction in the bytecode
  bool operator==(const PythonFrame&) const = default;
};

// A code object's content, pointing into the interpreter's memory: valid while the frame runs. Not
// for other threads.
struct CodeContent {
  std::string_view file;      // UTF-8; non-ASCII text is decoded into `scratch`
  std::string_view function;  // qualified name; the plain name below 3.11
  std::int32_t first_line;
  std::span<const std::uint8_t> linetable;  // co_linetable; co_lnotab in 3.9
};

enum class PythonState : std::uint8_t {
  kNoPython,
  kUnchecked,
  kChecked,
  kDiffer,
  kUnsupported,
  kOff
};

class PythonStack {
 public:
  // What `checked` of ScheduleSelfCheck is told: the state that the check led to.
  using Checked = void (*)(PythonState state, void* context);

  constexpr PythonStack() = default;

  // Looks for a running interpreter in the process and chooses its offsets. Idempotent and cheap
  // once attached; without one it may be called again later. May take the loader lock (dlsym): not
  // from under a lock of the host's.
  void Attach();
  // Compares one walk with the interpreter's own API from a pending call (Py_AddPendingCall),
  // later, on the main thread. `checked` is called there with the result. Not from under a lock of
  // the host's. Idempotent while one is pending; does nothing unless the state is kUnchecked. A
  // check that finds no frame to compare leaves the state and may be scheduled again. REQUIRES: the
  // object lives as long as the process.
  void ScheduleSelfCheck(Checked checked, void* context);

  // Innermost first; how many were written. 0 on a thread without Python frames, or when frames are
  // not to be trusted. `cut` is set when outer frames did not fit.
  int Walk(std::span<PythonFrame> frames, bool* cut) const;
  // Reads the content of a frame that Walk has just returned on this thread. `scratch` holds
  // decoded text (two names).
  CodeContent Describe(const PythonFrame& frame, std::span<char> scratch) const;

  PythonState state() const { return state_.load(std::memory_order_relaxed); }
  std::uint32_t version_hex() const { return version_hex_; }
  // For good: nothing turns the frames on again.
  void SwitchOff() { state_.store(PythonState::kOff, std::memory_order_relaxed); }

 private:
  static constexpr int kCarefulWalks = 64;

  using DirectWalk = int (*)(const PythonLayout& layout, const void* code_type,
                             std::uintptr_t thread, std::span<PythonFrame> frames, bool* cut);

  static int RunSelfCheck(void* self);
  void Leave(PythonState from, PythonState to) const;
  int WalkCarefully(std::uintptr_t thread, std::span<PythonFrame> frames, bool* cut) const;

  // Mutable: a walk is what finds out that a second interpreter came up or that the layout is
  // wrong.
  mutable std::atomic<PythonState> state_{PythonState::kNoPython};
  mutable std::atomic<int> careful_walks_left_{kCarefulWalks};
  std::atomic<bool> attaching_{false};
  std::atomic<bool> check_pending_{false};
  std::uint32_t version_hex_ = 0;
  PythonApi api_;                     // written before state_ leaves kNoPython, constant after
  PythonLayout layout_;               // likewise
  DirectWalk direct_walk_ = nullptr;  // likewise
  Checked checked_ = nullptr;
  void* checked_context_ = nullptr;
};

}  // namespace cuheap::capture
