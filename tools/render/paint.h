// Colour and safe text for terminals. Strings from a trace are shown literally: control characters
// become '?', so that no file can move the cursor of whoever reads about it.
#pragma once

#include <string>
#include <string_view>

namespace cuheap::render {

class Paint {
 public:
  explicit Paint(bool on) : on_(on) {}
  std::string Error(std::string_view text) const { return In("31;1", text); }
  std::string Warning(std::string_view text) const { return In("33", text); }
  std::string Heading(std::string_view text) const { return In("1", text); }
  std::string Quiet(std::string_view text) const { return In("2", text); }

 private:
  std::string In(std::string_view code, std::string_view text) const;
  bool on_;
};

std::string Safe(std::string_view text);
// At most `width` characters, the middle left out.
std::string Shortened(std::string_view text, std::size_t width);

}  // namespace cuheap::render
