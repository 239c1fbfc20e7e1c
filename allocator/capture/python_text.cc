#include "allocator/capture/python_text.h"

#include <algorithm>

#include "allocator/capture/memory_probe.h"

namespace cuheap::capture {
namespace {

constexpr std::string_view kUnreadable = "?";
// Longer than any file or function name; a larger length is a broken object.
constexpr std::uint64_t kLongestText = 1 << 16;
constexpr std::uint32_t kReplacement = 0xfffd;

std::uint32_t CodePoint(std::uintptr_t text, std::uint64_t index, std::uint32_t width) {
  if (width == 1) return Load<std::uint8_t>(text + index);
  if (width == 2) return Load<std::uint16_t>(text + 2 * index);
  return Load<std::uint32_t>(text + 4 * index);
}

// How many bytes were written to `out`, which has room for four.
std::size_t Encode(std::uint32_t point, char* out) {
  if ((point >= 0xd800 && point < 0xe000) || point > 0x10ffff) point = kReplacement;
  const auto tail = [point](int shift) {
    return static_cast<char>(0x80 | (point >> shift & 0x3f));
  };
  if (point < 0x80) {
    out[0] = static_cast<char>(point);
    return 1;
  }
  if (point < 0x800) {
    out[0] = static_cast<char>(0xc0 | point >> 6);
    out[1] = tail(0);
    return 2;
  }
  if (point < 0x10000) {
    out[0] = static_cast<char>(0xe0 | point >> 12);
    out[1] = tail(6);
    out[2] = tail(0);
    return 3;
  }
  out[0] = static_cast<char>(0xf0 | point >> 18);
  out[1] = tail(12);
  out[2] = tail(6);
  out[3] = tail(0);
  return 4;
}

}  // namespace

std::string_view ReadPythonText(const PythonLayout& layout, std::uintptr_t object,
                                std::span<char>* scratch) {
  if (object == 0) return kUnreadable;
  const auto length = Load<std::uint64_t>(object + layout.text_length);
  const std::uint32_t state =
      Load<std::uint32_t>(object + layout.text_state) >> layout.text_kind_shift;
  const std::uint32_t width = state & 7;
  const bool compact = (state & 8) != 0;
  const bool ascii = (state & 16) != 0;
  if (!compact || length > kLongestText || (width != 1 && width != 2 && width != 4))
    return kUnreadable;
  if (ascii) return {reinterpret_cast<const char*>(object + layout.text_ascii), length};

  std::size_t used = 0;
  char encoded[4];
  for (std::uint64_t i = 0; i < length; ++i) {
    const std::size_t bytes = Encode(CodePoint(object + layout.text_wide, i, width), encoded);
    if (used + bytes > scratch->size()) break;
    std::copy_n(encoded, bytes, scratch->data() + used);
    used += bytes;
  }
  const std::string_view text(scratch->data(), used);
  *scratch = scratch->subspan(used);
  return text;
}

}  // namespace cuheap::capture
