// How to get from a frame to its caller's on x86-64, in one word: where the canonical frame address
// (CFA) is, and where the caller's rbp and rbx are. The return address is always at CFA - 8, rsp is
// the CFA. The other callee-saved registers carry no CFA in code that compilers make.
#pragma once

#include <cstdint>

namespace cuheap::capture {

struct UnwindRule {
  enum class Kind : std::uint8_t {
    kNone,     // not a rule
    kEnd,      // the outermost frame, or one that cannot be unwound
    kFromRsp,  // CFA = rsp + cfa_offset
    kFromRbp,
    kFromRbx,
    kAtRbp,   // CFA = *(rbp + cfa_offset): a function that aligned its stack
    kSignal,  // a signal was delivered here: everything is in the ucontext at rsp
  };
  enum class Place : std::uint8_t {
    kKept,     // the caller's value is still in the register
    kFromCfa,  // at CFA + offset
    kFromRbp,  // at rbp + offset
    kUnknown,
  };
  struct Saved {
    Place place = Place::kKept;
    std::int32_t offset = 0;
  };

  Kind kind = Kind::kNone;
  std::int32_t cfa_offset = 0;
  Saved rbp;
  Saved rbx;

  // All offsets are multiples of 8 here; a rule that does not fit becomes kEnd. Never 0.
  constexpr std::uint64_t Pack() const {
    if (!Fits(cfa_offset, kCfaBits) || !Fits(rbp.offset, kSavedBits) ||
        !Fits(rbx.offset, kSavedBits))
      return static_cast<std::uint64_t>(Kind::kEnd);
    return static_cast<std::uint64_t>(kind) | Field(cfa_offset, kCfaBits) << kCfaShift |
           PackSaved(rbp) << kRbpShift | PackSaved(rbx) << kRbxShift;
  }
  static constexpr UnwindRule Unpack(std::uint64_t word) {
    return {KindOf(word), static_cast<std::int32_t>(CfaOffset(word)), UnpackSaved(Rbp(word)),
            UnpackSaved(Rbx(word))};
  }

  // The parts of a packed rule, for the walk, which keeps it in a register.
  static constexpr Kind KindOf(std::uint64_t word) { return static_cast<Kind>(word & 7); }
  static constexpr std::int64_t CfaOffset(std::uint64_t word) {
    return Number(word >> kCfaShift, kCfaBits);
  }
  static constexpr std::uint64_t Rbp(std::uint64_t word) { return word >> kRbpShift; }
  static constexpr std::uint64_t Rbx(std::uint64_t word) { return word >> kRbxShift; }
  static constexpr Place PlaceOf(std::uint64_t saved) { return static_cast<Place>(saved & 3); }
  static constexpr std::int64_t OffsetOf(std::uint64_t saved) {
    return Number(saved >> 2, kSavedBits);
  }

 private:
  static constexpr int kCfaBits = 24;
  static constexpr int kSavedBits = 16;
  static constexpr int kCfaShift = 3;
  static constexpr int kRbpShift = kCfaShift + kCfaBits;
  static constexpr int kRbxShift = kRbpShift + 2 + kSavedBits;
  static_assert(kRbxShift + 2 + kSavedBits <= 64);

  static constexpr bool Fits(std::int32_t offset, int bits) {
    return offset % 8 == 0 && offset / 8 >= -(1 << (bits - 1)) && offset / 8 < 1 << (bits - 1);
  }
  static constexpr std::uint64_t Field(std::int32_t offset, int bits) {
    return static_cast<std::uint64_t>(offset / 8) & ((std::uint64_t{1} << bits) - 1);
  }
  // The field's low `bits`, as a signed number of units of 8.
  static constexpr std::int64_t Number(std::uint64_t word, int bits) {
    return (static_cast<std::int64_t>(word << (64 - bits)) >> (64 - bits)) * 8;
  }
  static constexpr std::uint64_t PackSaved(Saved saved) {
    return static_cast<std::uint64_t>(saved.place) | Field(saved.offset, kSavedBits) << 2;
  }
  static constexpr Saved UnpackSaved(std::uint64_t saved) {
    return {PlaceOf(saved), static_cast<std::int32_t>(OffsetOf(saved))};
  }
};

}  // namespace cuheap::capture
