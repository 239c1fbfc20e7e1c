// From "here, in this thread, `caller` asked for memory" to a site of the dictionary, with what the
// same frames say about the program's loop. A stack that was seen before costs the walk and one
// look-up; a new one is described and interned.
//
// Threads: any, also under the host's locks. The walk happens before any lock of ours; a new stack
// takes one lock of ours for bounded work.
//
// Laws
//   1. No malloc, no loader lock, nothing of the interpreter's is called (python_stack.h).
//   2. The same content is the same site, even when code objects were rebuilt at other addresses.
//   3. The tables are bounded. A full stack table is emptied, grows and fills again; nothing else
//   is lost.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>

#include "allocator/base/mutex.h"
#include "allocator/base/virtual_range.h"
#include "allocator/capture/native_stack.h"
#include "allocator/capture/python_stack.h"
#include "allocator/capture/stack_memo.h"
#include "allocator/frontend/owners.h"
#include "allocator/frontend/step_frames.h"
#include "allocator/frontend/word_map.h"
#include "allocator/ledger/ledger.h"

namespace cuheap {

struct CallSite {
  SiteId site{};
  std::uint16_t facts = 0;  // of SiteCapture::Facts; 0 = the thread showed no Python frames
  bool from_torch_allocator = false;
};

class SiteCapture {
 public:
  constexpr SiteCapture() = default;

  // REQUIRES: called once, before Capture; `ledger` is open. False when there is no memory: then
  // every site is unknown.
  bool Start(format::StackMode mode, Ledger* ledger);
  capture::PythonStack& python() { return python_; }

  // `caller`: the return address in the code that asked; nullptr = unknown.
  CallSite Capture(format::Heap heap, const void* caller);
  const StackFacts& Facts(std::uint16_t index) const { return facts_[index]; }
  bool IsTorchAllocator(const void* caller);

  // An object was unloaded: addresses in the tables may mean something else from now on.
  void ForgetAddresses();

 private:
  struct RawStack {
    capture::PythonFrame python[capture::kMaxPythonFrames];
    std::uint64_t native[capture::kMaxNativeFrames];
    int python_count = 0;
    int native_count = 0;
    bool cut = false;
    format::Heap heap{};
    std::uint32_t owner = 0;
  };
  struct Code {
    const void* code;
    std::uint64_t fingerprint;
    std::uint32_t id;
    FrameRole role;
  };
  struct Slot {
    std::atomic<std::uint64_t> key;    // hash of a raw stack; 0 = empty
    std::atomic<std::uint64_t> value;  // check (16) | facts (16) | site (32)
  };

  CallSite CaptureNative(const void* caller, RawStack* stack);
  CallSite SiteOf(const RawStack& stack);
  std::uint32_t OwnerOf(std::uint64_t pc);
  static std::uint64_t HashOf(const RawStack& stack);
  bool Look(std::uint64_t key, CallSite* found) const;
  void Keep(std::uint64_t key, const CallSite& site);
  void EmptySlots();
  std::uint64_t slot_count() const { return slot_count_.load(std::memory_order_acquire); }
  CallSite Intern(const RawStack& stack);
  Code CodeOf(const capture::PythonFrame& frame);
  std::uint64_t NativeFrameOf(std::uint64_t pc);
  std::uint16_t InternFacts(const StackFacts& facts);

  // Small for the caches' sake: a usual job has a few hundred stacks.
  static constexpr std::uint64_t kFirstSlots = 1u << 10;
  static constexpr std::uint64_t kMostSlots = 1u << 17;
  static constexpr std::uint16_t kMostFacts = 4096;

  format::StackMode mode_ = format::StackMode::kNone;
  Ledger* ledger_ = nullptr;
  capture::PythonStack python_;
  VirtualRange slot_range_;
  Slot* slots_ = nullptr;
  std::atomic<std::uint64_t> slot_count_{0};  // a power of two

  // Guards writing of what follows; slots, memo, owners and facts are read without it.
  Mutex mutex_;
  capture::StackMemo memo_;  // of stacks without Python frames
  std::uint64_t slots_used_ = 0;
  Owners owners_;
  WordMap<Code> codes_{1u << 16};
  StackFacts facts_[kMostFacts]{};  // 0 = nothing known
  std::uint16_t facts_count_ = 1;
};

}  // namespace cuheap
