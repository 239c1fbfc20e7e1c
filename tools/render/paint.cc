#include "tools/render/paint.h"

#include <fmt/format.h>

namespace cuheap::render {

std::string Paint::In(std::string_view code, std::string_view text) const {
  return on_ ? fmt::format("\033[{}m{}\033[0m", code, text) : std::string(text);
}

std::string Safe(std::string_view text) {
  std::string safe(text);
  for (char& c : safe) {
    const auto octet = static_cast<unsigned char>(c);
    if (octet < 0x20 || octet == 0x7f) c = '?';
  }
  return safe;
}

std::string ShellWord(std::string_view name) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./%+=:,@";
  std::string word(name.starts_with('-') ? "./" : "");
  if (!name.empty() && name.find_first_not_of(kPlain) == std::string_view::npos)
    return word.append(name);
  word += '\'';
  for (const char c : name) word += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return word + '\'';
}

std::string Shortened(std::string_view text, std::size_t width) {
  if (text.size() <= width || width < 8) return std::string(text);
  const std::size_t front = (width - 3) / 2;
  const std::size_t back = width - 3 - front;
  return fmt::format("{}...{}", text.substr(0, front), text.substr(text.size() - back));
}

}  // namespace cuheap::render
