#include "allocator/capture/cfa_program.h"

#include <limits>

#include "allocator/capture/cfa_expression.h"

namespace cuheap::capture {
namespace {

// Where the caller's value of a register is.
struct Location {
  enum class Kind : std::uint8_t { kKept, kUndefined, kAt };
  Kind kind = Kind::kKept;
  CfaValue address;
};

struct Row {
  CfaValue cfa;
  Location rbx;
  Location rbp;
  Location return_address;
};

class Machine {
 public:
  Machine(const FrameDescription& function, std::uint64_t pc) : function_(function), pc_(pc) {}

  bool Run(Row* row) {
    location_ = 0;  // the shared instructions stand before the function
    Execute(function_.initial);
    initial_ = row_;
    location_ = function_.begin;
    Execute(function_.own);
    *row = row_;
    return !failed_;
  }

 private:
  static constexpr int kRemembered = 8;

  void Execute(DwarfReader code) {
    reached_ = false;
    while (!code.done() && !reached_ && !failed_) {
      const auto op = code.Read<std::uint8_t>();
      Step(op, code);
      if (!code.ok()) failed_ = true;
    }
  }

  void Advance(std::uint64_t units) { MoveTo(location_ + units * function_.code_alignment); }

  void MoveTo(std::uint64_t location) {
    if (location > pc_)
      reached_ = true;
    else
      location_ = location;
  }

  std::int64_t Scaled(std::uint64_t units) const {
    return Product(static_cast<std::int64_t>(units), function_.data_alignment);
  }

  Location* Find(std::uint64_t reg, Row* row) {
    return reg == kRbx             ? &row->rbx
           : reg == kRbp           ? &row->rbp
           : reg == kReturnAddress ? &row->return_address
                                   : &ignored_;
  }

  void Set(std::uint64_t reg, Location::Kind kind, CfaValue address = {}) {
    *Find(reg, &row_) = {kind, address};
  }
  void SetAtCfa(std::uint64_t reg, std::int64_t offset) {
    Set(reg, Location::Kind::kAt, {CfaValue::Kind::kCfa, 0, offset});
  }
  void Restore(std::uint64_t reg) { *Find(reg, &row_) = *Find(reg, &initial_); }

  void Step(std::uint8_t op, DwarfReader& code) {
    const std::uint8_t low = op & 0x3f;
    switch (op & 0xc0) {
      case 0x40:
        return Advance(low);
      case 0x80:
        return SetAtCfa(low, Scaled(code.ReadUleb()));
      case 0xc0:
        return Restore(low);
      default:
        return op < 0x0a ? StepLocation(op, code) : StepRule(op, code);
    }
  }

  void StepLocation(std::uint8_t op, DwarfReader& code) {
    switch (op) {
      case 0x00:
        return;  // nop
      case 0x01:
        return MoveTo(code.ReadPointer(function_.pointer_encoding));
      case 0x02:
        return Advance(code.Read<std::uint8_t>());
      case 0x03:
        return Advance(code.Read<std::uint16_t>());
      case 0x04:
        return Advance(code.Read<std::uint32_t>());
      case 0x05: {
        const std::uint64_t reg = code.ReadUleb();
        return SetAtCfa(reg, Scaled(code.ReadUleb()));
      }
      case 0x06:
        return Restore(code.ReadUleb());
      case 0x07:
        return Set(code.ReadUleb(), Location::Kind::kUndefined);
      case 0x08:
        return Set(code.ReadUleb(), Location::Kind::kKept);
      default: {  // in another register
        const std::uint64_t reg = code.ReadUleb();
        code.ReadUleb();
        return Set(reg, Location::Kind::kUndefined);
      }
    }
  }

  void StepRule(std::uint8_t op, DwarfReader& code) {
    switch (op) {
      case 0x0a:
        return Remember();
      case 0x0b:
        return Recall();
      case 0x0c: {
        const std::uint64_t reg = code.ReadUleb();
        row_.cfa = {CfaValue::Kind::kRegister, reg, static_cast<std::int64_t>(code.ReadUleb())};
        return;
      }
      case 0x0d:
        row_.cfa.reg = code.ReadUleb();
        return;
      case 0x0e:
        row_.cfa.offset = static_cast<std::int64_t>(code.ReadUleb());
        return;
      case 0x0f:
        row_.cfa = CfaExpression(pc_).Evaluate(code.Take(code.ReadUleb()));
        return;
      case 0x10:
        return SetFromExpression(code);
      case 0x11: {
        const std::uint64_t reg = code.ReadUleb();
        return SetAtCfa(reg, Product(code.ReadSleb(), function_.data_alignment));
      }
      case 0x12: {
        const std::uint64_t reg = code.ReadUleb();
        row_.cfa = {CfaValue::Kind::kRegister, reg,
                    Product(code.ReadSleb(), function_.data_alignment)};
        return;
      }
      case 0x13:
        row_.cfa.offset = Product(code.ReadSleb(), function_.data_alignment);
        return;
      case 0x14:
      case 0x15: {  // the value itself, not where it is
        const std::uint64_t reg = code.ReadUleb();
        code.ReadUleb();
        return Set(reg, Location::Kind::kUndefined);
      }
      case 0x16: {
        const std::uint64_t reg = code.ReadUleb();
        code.Take(code.ReadUleb());
        return Set(reg, Location::Kind::kUndefined);
      }
      case 0x2e:
        code.ReadUleb();
        return;  // size of pushed arguments
      default:
        failed_ = true;
    }
  }

  void SetFromExpression(DwarfReader& code) {
    const std::uint64_t reg = code.ReadUleb();
    CfaExpression expression(pc_);
    expression.Push({CfaValue::Kind::kCfa, 0, 0});
    Set(reg, Location::Kind::kAt, expression.Evaluate(code.Take(code.ReadUleb())));
  }

  void Remember() {
    if (remembered_ == kRemembered)
      failed_ = true;
    else
      rows_[remembered_++] = row_;
  }
  void Recall() {
    if (remembered_ == 0)
      failed_ = true;
    else
      row_ = rows_[--remembered_];
  }

  const FrameDescription& function_;
  const std::uint64_t pc_;
  std::uint64_t location_ = 0;
  bool reached_ = false;
  bool failed_ = false;
  Row row_;
  Row initial_;
  Row rows_[kRemembered];
  int remembered_ = 0;
  Location ignored_;
};

constexpr bool IsSmall(std::int64_t offset) {
  return offset >= std::numeric_limits<std::int32_t>::min() &&
         offset <= std::numeric_limits<std::int32_t>::max();
}

UnwindRule::Saved ToSaved(const Location& location) {
  using Place = UnwindRule::Place;
  if (location.kind == Location::Kind::kKept) return {};
  const CfaValue& address = location.address;
  const auto offset = static_cast<std::int32_t>(address.offset);
  if (location.kind == Location::Kind::kAt && IsSmall(address.offset)) {
    if (address.kind == CfaValue::Kind::kCfa) return {Place::kFromCfa, offset};
    if (address.kind == CfaValue::Kind::kRegister && address.reg == kRbp)
      return {Place::kFromRbp, offset};
  }
  return {Place::kUnknown, 0};
}

UnwindRule::Kind ToKind(const CfaValue& cfa) {
  using Kind = UnwindRule::Kind;
  if (!IsSmall(cfa.offset)) return Kind::kEnd;
  if (cfa.kind == CfaValue::Kind::kLoaded) return cfa.reg == kRbp ? Kind::kAtRbp : Kind::kEnd;
  if (cfa.kind != CfaValue::Kind::kRegister) return Kind::kEnd;
  return cfa.reg == kRsp   ? Kind::kFromRsp
         : cfa.reg == kRbp ? Kind::kFromRbp
         : cfa.reg == kRbx ? Kind::kFromRbx
                           : Kind::kEnd;
}

constexpr UnwindRule kEndRule{UnwindRule::Kind::kEnd, 0, {}, {}};

}  // namespace

UnwindRule RunCfaProgram(const FrameDescription& function, std::uint64_t pc) {
  if (function.signal_frame) return {UnwindRule::Kind::kSignal, 0, {}, {}};
  Row row;
  if (!Machine(function, pc).Run(&row)) return kEndRule;
  const Location& back = row.return_address;
  if (back.kind != Location::Kind::kAt || back.address.kind != CfaValue::Kind::kCfa ||
      back.address.offset != -8)
    return kEndRule;
  const UnwindRule::Kind kind = ToKind(row.cfa);
  if (kind == UnwindRule::Kind::kEnd) return kEndRule;
  return {kind, static_cast<std::int32_t>(row.cfa.offset), ToSaved(row.rbp), ToSaved(row.rbx)};
}

}  // namespace cuheap::capture
