#include "tools/replay/text_rows.h"

#include <algorithm>
#include <charconv>

namespace cuheap::replay {
namespace {

std::string_view Trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\r");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1);
}

}  // namespace

bool TextRows::Next() {
  while (!left_.empty()) {
    const std::size_t end = std::min(left_.find('\n'), left_.size());
    std::string_view row = Trimmed(left_.substr(0, end));
    left_.remove_prefix(std::min(end + 1, left_.size()));
    ++line_;
    if (row.empty()) continue;
    fields_.clear();
    for (;;) {
      const std::size_t comma = row.find(separator_);
      fields_.push_back(Trimmed(row.substr(0, comma)));
      if (comma == std::string_view::npos) return true;
      row.remove_prefix(comma + 1);
    }
  }
  return false;
}

std::size_t TextRows::Find(std::initializer_list<std::string_view> names) const {
  for (const std::string_view name : names) {
    const auto found = std::find(fields_.begin(), fields_.end(), name);
    if (found != fields_.end()) return static_cast<std::size_t>(found - fields_.begin());
  }
  return kNowhere;
}

std::optional<std::uint64_t> TextRows::Number(std::string_view field) {
  if (field == "(nil)") return 0;
  const bool hexadecimal = field.starts_with("0x");
  if (hexadecimal) field.remove_prefix(2);
  std::uint64_t number = 0;
  const char* end = field.data() + field.size();
  const auto read = std::from_chars(field.data(), end, number, hexadecimal ? 16 : 10);
  if (read.ec != std::errc() || read.ptr != end) return {};
  return number;
}

}  // namespace cuheap::replay
