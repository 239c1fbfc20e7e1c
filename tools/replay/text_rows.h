// Rows of text, as CSV without quotes: one line a row, fields between commas. Views into the text.
//
// Laws: 1. Whatever the bytes, every field lies inside the text. 2. A number is the whole field.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string_view>
#include <vector>

namespace cuheap::replay {

class TextRows {
 public:
  explicit TextRows(std::string_view text, char separator = ',')
      : left_(text), separator_(separator) {}

  // The next row that is not empty; false: there is none.
  bool Next();
  std::uint64_t line() const { return line_; }  // from 1
  const std::vector<std::string_view>& fields() const { return fields_; }

  // Where the present row has a field of one of these names, the first that is there; else
  // kNowhere.
  static constexpr std::size_t kNowhere = ~std::size_t{0};
  std::size_t Find(std::initializer_list<std::string_view> names) const;

  // Decimal, or hexadecimal behind 0x; "(nil)" is 0. No value: not a number of 64 bits.
  static std::optional<std::uint64_t> Number(std::string_view field);

 private:
  std::string_view left_;
  char separator_;
  std::uint64_t line_ = 0;
  std::vector<std::string_view> fields_;
};

}  // namespace cuheap::replay
