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
// The name of a file as one word of a command line, for a shell.
std::string ShellWord(std::string_view name);
// At most `width` characters, the middle left out.
std::string Shortened(std::string_view text, std::size_t width);

}  // namespace cuheap::render
