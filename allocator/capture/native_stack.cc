#include "allocator/capture/native_stack.h"

#if defined(__x86_64__)

#include <ucontext.h>

#include <algorithm>
#include <cstddef>

#include "allocator/capture/eh_frame.h"
#include "allocator/capture/memory_probe.h"
#include "allocator/capture/module_instances.h"
#include "allocator/capture/modules_on_stack.h"
#include "allocator/capture/rule_cache.h"
#include "allocator/capture/stack_range.h"
#include "allocator/capture/unwind_rule.h"
#include "allocator/capture/walk_witness.h"

namespace cuheap::capture {
namespace {

[[gnu::noinline]] std::uint64_t MakeRule(std::uint64_t pc, ModuleInstance instance) {
  Module module;
  if (!FindModule(pc, &module)) return static_cast<std::uint64_t>(UnwindRule::Kind::kEnd);
  const std::uint64_t rule = FindUnwindRule(module, pc).Pack();
  rule_cache.Store(pc, instance, rule);
  return rule;
}

// Everything inline, so that the registers of the walk are registers.
template <typename Witness>
class NativeWalk {
 public:
  NativeWalk(const StackPlace& here, ModulesOnStack* modules, Witness witness)
      : now_(here), stack_(StackAround(here.sp)), modules_(modules), witness_(witness) {}

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

  [[gnu::always_inline]] bool FrameAddress(std::uint64_t rule, std::uint64_t* cfa) {
    const auto offset = static_cast<std::uint64_t>(UnwindRule::CfaOffset(rule));
    const UnwindRule::Kind kind = UnwindRule::KindOf(rule);
    if (kind == UnwindRule::Kind::kFromRsp) {
      *cfa = now_.sp + offset;
    } else if (kind == UnwindRule::Kind::kFromRbx) {
      witness_.NeededRbx(now_.rbx);
      *cfa = now_.rbx + offset;
    } else {
      witness_.NeededRbp(now_.rbp);
      *cfa = now_.rbp + offset;
      if (kind == UnwindRule::Kind::kAtRbp) {
        const std::uint64_t place = *cfa;
        if (!Read(place, cfa)) return false;
        witness_.Saw(place, *cfa);
      } else if (kind != UnwindRule::Kind::kFromRbp) {
        return false;
      }
    }
    // Stacks grow down: a caller's frame is above.
    return *cfa > now_.sp && *cfa % 8 == 0;
  }

  struct Restored {
    std::uint64_t value = 0;
    Origin origin = Origin::Settled();
    bool kept = true;
  };
  [[gnu::always_inline]] bool Restore(std::uint64_t saved, std::uint64_t cfa, std::uint64_t kept,
                                      Restored* reg) {
    const UnwindRule::Place place = UnwindRule::PlaceOf(saved);
    const auto offset = static_cast<std::uint64_t>(UnwindRule::OffsetOf(saved));
    *reg = {kept, Origin::Settled(), place == UnwindRule::Place::kKept};
    if (reg->kept) return true;
    if (place == UnwindRule::Place::kUnknown) {
      reg->value = 0;  // a frame address made of it is below the stack and ends the walk
      return true;
    }
    std::uint64_t address = cfa + offset;
    if (place == UnwindRule::Place::kFromRbp) {
      witness_.NeededRbp(now_.rbp);
      address = now_.rbp + offset;
    }
    reg->origin = Origin::StackWord(address);
    return Read(address, &reg->value);
  }

  [[gnu::always_inline]] bool StepWith(std::uint64_t rule, std::uint64_t cfa) {
    std::uint64_t pc = 0;
    Restored rbp;
    Restored rbx;
    if (!Read(cfa - 8, &pc) || !Restore(UnwindRule::Rbp(rule), cfa, now_.rbp, &rbp) ||
        !Restore(UnwindRule::Rbx(rule), cfa, now_.rbx, &rbx))
      return false;
    witness_.Saw(cfa - 8, pc);
    if (!rbp.kept) witness_.RbpIs(rbp.origin);
    if (!rbx.kept) witness_.RbxIs(rbx.origin);
    now_ = {pc, cfa, rbp.value, rbx.value};
    return true;
  }

  static constexpr std::uint64_t SavedAt(int reg) {
    return offsetof(ucontext_t, uc_mcontext.gregs) + 8 * static_cast<std::uint64_t>(reg);
  }

  // The kernel's frame: sp points to the ucontext. The interrupted stack may be another one, and a
  // function without calls keeps data below its stack pointer.
  [[gnu::always_inline]] bool StepOverSignal() {
    witness_.SawSignal();
    StackPlace before;
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

  StackPlace now_;
  StackRange stack_;
  ModulesOnStack* const modules_;
  [[no_unique_address]] Witness witness_;
  bool interrupted_ = true;  // the first pc is an instruction, not a return address
};

// The frames behind the first `skip` ones.
template <typename Witness>
[[gnu::always_inline]] inline int Walk(const StackPlace& place, std::span<std::uint64_t> pcs,
                                       std::ptrdiff_t skip, Witness witness) {
  ModulesOnStack modules;
  NativeWalk<Witness> walk(place, &modules, witness);
  const std::ptrdiff_t room = static_cast<std::ptrdiff_t>(pcs.size());
  std::ptrdiff_t count = -skip;
  for (; count < room && walk.Step(); ++count)
    if (count >= 0) pcs[static_cast<std::size_t>(count)] = walk.pc();
  return static_cast<int>(std::clamp<std::ptrdiff_t>(count, 0, room));
}

}  // namespace

[[gnu::noinline]] int WalkNative(std::span<std::uint64_t> pcs, int skip) {
  // Out of this function and of the one that calls it come first.
  return Walk(StackPlaceHere(), pcs, 1 + std::ptrdiff_t{std::max(skip, 0)}, NoWitness());
}

int WalkNativeFrom(const StackPlace& place, std::span<std::uint64_t> pcs, WalkEvidence* evidence) {
  if (evidence == nullptr) return Walk(place, pcs, 0, NoWitness());
  return Walk(place, pcs, 0, Witness(place.sp, evidence));
}

}  // namespace cuheap::capture

#else

namespace cuheap::capture {

int WalkNative(std::span<std::uint64_t>, int) { return 0; }
int WalkNativeFrom(const StackPlace&, std::span<std::uint64_t>, WalkEvidence*) { return 0; }

}  // namespace cuheap::capture

#endif
