#include "allocator/capture/native_stack.h"

#if defined(__x86_64__)

#include <ucontext.h>

#include <algorithm>
#include <cstddef>

#include "allocator/capture/eh_frame.h"
#include "allocator/capture/memory_probe.h"
#include "allocator/capture/module_instances.h"
#include "allocator/capture/rule_cache.h"
#include "allocator/capture/stack_range.h"
#include "allocator/capture/unwind_rule.h"

namespace cuheap::capture {
namespace {

struct Registers {
  std::uint64_t pc;
  std::uint64_t sp;
  std::uint64_t rbp;
  std::uint64_t rbx;
};

// The registers at one instruction of the function it is inlined into.
[[gnu::always_inline]] inline Registers RegistersHere() {
  Registers here;
  asm volatile(
      "leaq 0(%%rip), %0\n\t"
      "movq %%rsp, %1\n\t"
      "movq %%rbp, %2\n\t"
      "movq %%rbx, %3"
      : "=&r"(here.pc), "=&r"(here.sp), "=&r"(here.rbp), "=&r"(here.rbx));
  return here;
}

// The modules that this walk has met. While their functions are on the stack they stay loaded, so
// what was found out about them holds to the end of the walk.
class ModulesOnStack {
 public:
  struct Entry {
    std::uint64_t begin;
    std::uint64_t size;
    ModuleInstance instance;

    bool Holds(std::uint64_t pc) const { return pc - begin < size; }
  };

  ModulesOnStack() { entries_[0] = {}; }  // the others are written before they are read

  // nullptr where `pc` belongs to no module.
  const Entry* Find(std::uint64_t pc) {
    if (!current_->Holds(pc)) Change(pc);
    return current_->Holds(pc) ? current_ : nullptr;
  }

 private:
  static constexpr std::size_t kMost = 8;

  [[gnu::noinline]] void Change(std::uint64_t pc) {
    for (current_ = entries_; current_ < entries_ + count_; ++current_)
      if (current_->Holds(pc)) return;
    if (count_ == kMost) current_ = &entries_[next_++ % kMost];
    *current_ = {};
    Module module;
    if (!FindModule(pc, &module)) return;
    *current_ = {module.map_begin, module.map_end - module.map_begin, NumberModule(module)};
    if (count_ < kMost) ++count_;
  }

  Entry entries_[kMost];
  Entry* current_ = entries_;
  std::size_t count_ = 0;
  std::size_t next_ = 0;
};

[[gnu::noinline]] std::uint64_t MakeRule(std::uint64_t pc, ModuleInstance instance) {
  Module module;
  if (!FindModule(pc, &module)) return static_cast<std::uint64_t>(UnwindRule::Kind::kEnd);
  const std::uint64_t rule = FindUnwindRule(module, pc).Pack();
  rule_cache.Store(pc, instance, rule);
  return rule;
}

// Everything inline, so that the registers of the walk are registers.
class NativeWalk {
 public:
  NativeWalk(const Registers& here, ModulesOnStack* modules)
      : now_(here), stack_(StackAround(here.sp)), modules_(modules) {}

  std::uint64_t pc() const { return now_.pc; }

  // To the caller's frame; false at the end of the walk.
  [[gnu::always_inline]] bool Step() {
    // A return address may lie behind the last instruction of its function, so the call before it
    // is looked up; where the frame was interrupted, the address itself.
    const std::uint64_t at = now_.pc - (interrupted_ ? 0 : 1);
    const ModulesOnStack::Entry* const entry = modules_->Find(at);
    if (entry == nullptr) return false;
    std::uint64_t rule = rule_cache.Find(at, entry->instance);
    if (rule == 0) rule = MakeRule(at, entry->instance);
    if (UnwindRule::KindOf(rule) == UnwindRule::Kind::kSignal) return StepOverSignal();
    std::uint64_t cfa = 0;
    if (!FrameAddress(rule, &cfa) || !StepWith(rule, cfa)) return false;
    interrupted_ = false;
    return now_.pc != 0;
  }

 private:
  static constexpr std::uint64_t kRedZone = 128;

  [[gnu::always_inline]] bool Read(std::uint64_t address, std::uint64_t* value) const {
    if (!stack_.Holds(address)) return false;
    *value = Load<std::uint64_t>(address);
    return true;
  }

  [[gnu::always_inline]] bool FrameAddress(std::uint64_t rule, std::uint64_t* cfa) const {
    const auto offset = static_cast<std::uint64_t>(UnwindRule::CfaOffset(rule));
    const UnwindRule::Kind kind = UnwindRule::KindOf(rule);
    if (kind == UnwindRule::Kind::kFromRsp)
      *cfa = now_.sp + offset;
    else if (kind == UnwindRule::Kind::kFromRbp)
      *cfa = now_.rbp + offset;
    else if (kind == UnwindRule::Kind::kFromRbx)
      *cfa = now_.rbx + offset;
    else if (kind != UnwindRule::Kind::kAtRbp || !Read(now_.rbp + offset, cfa))
      return false;
    // Stacks grow down: a caller's frame is above.
    return *cfa > now_.sp && *cfa % 8 == 0;
  }

  [[gnu::always_inline]] bool Restore(std::uint64_t saved, std::uint64_t cfa,
                                      std::uint64_t* reg) const {
    const UnwindRule::Place place = UnwindRule::PlaceOf(saved);
    const auto offset = static_cast<std::uint64_t>(UnwindRule::OffsetOf(saved));
    if (place == UnwindRule::Place::kKept) return true;
    if (place == UnwindRule::Place::kFromCfa) return Read(cfa + offset, reg);
    if (place == UnwindRule::Place::kFromRbp) return Read(now_.rbp + offset, reg);
    *reg = 0;  // a frame address made of it is below the stack and ends the walk
    return true;
  }

  [[gnu::always_inline]] bool StepWith(std::uint64_t rule, std::uint64_t cfa) {
    Registers caller{0, cfa, now_.rbp, now_.rbx};
    if (!Read(cfa - 8, &caller.pc) || !Restore(UnwindRule::Rbp(rule), cfa, &caller.rbp) ||
        !Restore(UnwindRule::Rbx(rule), cfa, &caller.rbx))
      return false;
    now_ = caller;
    return true;
  }

  static constexpr std::uint64_t SavedAt(int reg) {
    return offsetof(ucontext_t, uc_mcontext.gregs) + 8 * static_cast<std::uint64_t>(reg);
  }

  // The kernel's frame: sp points to the ucontext. The interrupted stack may be another one, and a
  // function without calls keeps data below its stack pointer.
  [[gnu::always_inline]] bool StepOverSignal() {
    Registers before{};
    if (!Read(now_.sp + SavedAt(REG_RIP), &before.pc) ||
        !Read(now_.sp + SavedAt(REG_RSP), &before.sp) ||
        !Read(now_.sp + SavedAt(REG_RBP), &before.rbp) ||
        !Read(now_.sp + SavedAt(REG_RBX), &before.rbx))
      return false;
    if (!stack_.Holds(before.sp - kRedZone)) {
      stack_ = StackAround(before.sp - kRedZone);
      if (!stack_.Holds(before.sp)) return false;
    }
    now_ = before;
    interrupted_ = true;
    return now_.pc != 0;
  }

  Registers now_;
  StackRange stack_;
  ModulesOnStack* const modules_;
  bool interrupted_ = true;  // the first pc is an instruction, not a return address
};

}  // namespace

[[gnu::noinline]] int WalkNative(std::span<std::uint64_t> pcs, int skip) {
  ModulesOnStack modules;
  NativeWalk walk(RegistersHere(), &modules);
  // Out of this function and of the one that calls it come first.
  const std::ptrdiff_t room = static_cast<std::ptrdiff_t>(pcs.size());
  std::ptrdiff_t count = -1 - std::max(skip, 0);
  for (; count < room && walk.Step(); ++count)
    if (count >= 0) pcs[static_cast<std::size_t>(count)] = walk.pc();
  return static_cast<int>(std::clamp<std::ptrdiff_t>(count, 0, room));
}

}  // namespace cuheap::capture

#else

namespace cuheap::capture {

int WalkNative(std::span<std::uint64_t>, int) { return 0; }

}  // namespace cuheap::capture

#endif
