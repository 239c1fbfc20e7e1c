// DWARF expressions as unwind rules use them, evaluated symbolically: when a rule is made the
// program counter is known and the registers are not.
#pragma once

#include <cstdint>
#include <utility>

#include "allocator/capture/dwarf_reader.h"

namespace cuheap::capture {

// DWARF numbers of x86-64 registers.
enum CfaRegister : std::uint64_t { kRbx = 3, kRbp = 6, kRsp = 7, kReturnAddress = 16 };

// Tables may hold any numbers; arithmetic on them wraps.
constexpr std::int64_t Sum(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
}
constexpr std::int64_t Product(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
}

// A value that an expression computes, kept symbolic: the registers are not known when a rule is
// made, only the program counter is.
struct CfaValue {
  enum class Kind : std::uint8_t {
    kConstant,  // offset
    kRegister,  // reg + offset
    kCfa,       // CFA + offset
    kLoaded,    // *(reg + offset)
    kUnknown,
  };
  Kind kind = Kind::kUnknown;
  std::uint64_t reg = 0;
  std::int64_t offset = 0;
};

constexpr CfaValue Constant(std::int64_t value) { return {CfaValue::Kind::kConstant, 0, value}; }

class CfaExpression {
 public:
  explicit CfaExpression(std::uint64_t pc) : pc_(static_cast<std::int64_t>(pc)) {}

  void Push(CfaValue value) {
    if (depth_ == kDepth)
      failed_ = true;
    else
      stack_[depth_++] = value;
  }

  CfaValue Evaluate(DwarfReader code) {
    while (!code.done() && code.ok() && !failed_) Step(code.Read<std::uint8_t>(), code);
    return failed_ || !code.ok() || depth_ == 0 ? CfaValue{} : stack_[depth_ - 1];
  }

 private:
  static constexpr int kDepth = 8;

  CfaValue Pop() {
    if (depth_ == 0) {
      failed_ = true;
      return {};
    }
    return stack_[--depth_];
  }

  void PushRegister(std::uint64_t reg, std::int64_t offset) {
    Push(reg == kReturnAddress ? Constant(Sum(pc_, offset))
                               : CfaValue{CfaValue::Kind::kRegister, reg, offset});
  }

  void Step(std::uint8_t op, DwarfReader& code) {
    if (op >= 0x30 && op <= 0x4f) return Push(Constant(op - 0x30));                  // lit0..31
    if (op >= 0x70 && op <= 0x8f) return PushRegister(op - 0x70u, code.ReadSleb());  // breg0..31
    switch (op) {
      case 0x06:
        return Dereference();
      case 0x08:
        return Push(Constant(code.Read<std::uint8_t>()));
      case 0x09:
        return Push(Constant(code.Read<std::int8_t>()));
      case 0x0a:
        return Push(Constant(code.Read<std::uint16_t>()));
      case 0x0b:
        return Push(Constant(code.Read<std::int16_t>()));
      case 0x0c:
        return Push(Constant(code.Read<std::uint32_t>()));
      case 0x0d:
        return Push(Constant(code.Read<std::int32_t>()));
      case 0x10:
        return Push(Constant(static_cast<std::int64_t>(code.ReadUleb())));
      case 0x11:
        return Push(Constant(code.ReadSleb()));
      case 0x23:
        return Add(Constant(static_cast<std::int64_t>(code.ReadUleb())));
      case 0x22:
        return Add(Pop());
      case 0x1a:
      case 0x1c:
      case 0x24:
      case 0x2a:
        return Combine(op);
      default:
        failed_ = true;
    }
  }

  void Dereference() {
    CfaValue value = Pop();
    if (value.kind != CfaValue::Kind::kRegister) failed_ = true;
    value.kind = CfaValue::Kind::kLoaded;
    Push(value);
  }

  // One side must be a constant, and a loaded value stays what was loaded.
  void Add(CfaValue right) {
    CfaValue left = Pop();
    if (left.kind == CfaValue::Kind::kConstant) std::swap(left, right);
    if (right.kind != CfaValue::Kind::kConstant ||
        (left.kind == CfaValue::Kind::kLoaded && right.offset != 0))
      failed_ = true;
    left.offset = Sum(left.offset, right.offset);
    Push(left);
  }

  // and, minus, shl, ge: of constants, as the linker's PLT rule needs them.
  void Combine(std::uint8_t op) {
    const CfaValue right = Pop();
    const CfaValue left = Pop();
    if (left.kind != CfaValue::Kind::kConstant || right.kind != CfaValue::Kind::kConstant)
      failed_ = true;
    const auto shifted =
        static_cast<std::int64_t>(static_cast<std::uint64_t>(left.offset) << (right.offset & 63));
    Push(Constant(op == 0x1a   ? left.offset & right.offset
                  : op == 0x1c ? Sum(left.offset, Product(right.offset, -1))
                  : op == 0x24 ? shifted
                               : left.offset >= right.offset));
  }

  const std::int64_t pc_;
  CfaValue stack_[kDepth];
  int depth_ = 0;
  bool failed_ = false;
};

}  // namespace cuheap::capture
