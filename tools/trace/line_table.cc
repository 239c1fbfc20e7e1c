#include "tools/trace/line_table.h"

namespace cuheap::trace {
namespace {

// Lines are summed in 64 bits and brought back at the end, so that a damaged table cannot overflow.
using Line = std::int64_t;

std::optional<std::int32_t> Narrow(Line line) {
  constexpr Line kMost = 0x7fffffff;
  if (line < 0 || line > kMost) return std::nullopt;
  return static_cast<std::int32_t>(line);
}

// Pairs (bytes of code, signed lines): a line begins behind the bytes of its pair.
std::optional<std::int32_t> FromLnotab(std::span<const std::uint8_t> table, Line line,
                                       std::uint32_t instruction) {
  std::uint64_t address = 0;
  for (std::size_t i = 0; i + 1 < table.size(); i += 2) {
    address += table[i];
    if (address > instruction) break;
    line += static_cast<std::int8_t>(table[i + 1]);
  }
  return Narrow(line);
}

// Pairs (bytes of code, signed lines): a range of code with the line reached by adding; -128 is a
// range without a line.
std::optional<std::int32_t> FromRanges(std::span<const std::uint8_t> table, Line line,
                                       std::uint32_t instruction) {
  constexpr std::int8_t kNoLine = -128;
  std::uint64_t end = 0;
  for (std::size_t i = 0; i + 1 < table.size(); i += 2) {
    const auto delta = static_cast<std::int8_t>(table[i + 1]);
    if (delta != kNoLine) line += delta;
    end += table[i];
    if (instruction < end) return delta == kNoLine ? std::nullopt : Narrow(line);
  }
  return std::nullopt;
}

// Entries of a first byte with bit 7 set (4 bits form, 3 bits length in code units - 1) and a
// payload by form.
class LocationTable {
 public:
  LocationTable(std::span<const std::uint8_t> table, Line line) : table_(table), line_(line) {}

  std::optional<std::int32_t> Find(std::uint32_t instruction) {
    constexpr std::uint64_t kCodeUnit = 2;
    std::uint64_t end = 0;
    while (at_ < table_.size()) {
      const std::uint8_t head = table_[at_++];
      if ((head & 0x80u) == 0) return std::nullopt;
      end += kCodeUnit * ((head & 7u) + 1u);
      const bool has_line = ReadForm((head >> 3) & 15u);
      if (instruction < end) return has_line ? Narrow(line_) : std::nullopt;
    }
    return std::nullopt;
  }

 private:
  // Moves behind the payload and brings the line up to date; false for a range without a location.
  bool ReadForm(unsigned form) {
    constexpr unsigned kOneLine = 10;
    constexpr unsigned kNoColumns = 13;
    constexpr unsigned kLong = 14;
    constexpr unsigned kNone = 15;
    if (form < kOneLine) {
      at_ += 1;
    } else if (form < kNoColumns) {
      line_ += form - kOneLine;
      at_ += 2;
    } else if (form == kNoColumns) {
      line_ += Signed();
    } else if (form == kLong) {
      line_ += Signed();
      Unsigned();
      Unsigned();
      Unsigned();
    }
    return form != kNone;
  }

  // Little-endian groups of six bits; bit 6 says that another follows.
  std::uint64_t Unsigned() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; at_ < table_.size(); shift += 6) {
      const std::uint8_t octet = table_[at_++];
      if (shift < 30) value |= static_cast<std::uint64_t>(octet & 63u) << shift;
      if ((octet & 64u) == 0) break;
    }
    return value;
  }

  Line Signed() {
    const std::uint64_t value = Unsigned();
    const auto magnitude = static_cast<Line>(value >> 1);
    return (value & 1u) != 0 ? -magnitude : magnitude;
  }

  std::span<const std::uint8_t> table_;
  std::size_t at_ = 0;
  Line line_;
};

}  // namespace

std::optional<std::int32_t> LineOf(std::uint32_t version_hex, std::span<const std::uint8_t> table,
                                   std::int32_t first_line, std::uint32_t instruction) {
  const std::uint32_t version = version_hex >> 16;  // 0xMMmm
  if (version < 0x030a) return FromLnotab(table, first_line, instruction);
  if (version == 0x030a) return FromRanges(table, first_line, instruction);
  return LocationTable(table, first_line).Find(instruction);
}

}  // namespace cuheap::trace
