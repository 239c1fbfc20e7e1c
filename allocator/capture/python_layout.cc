#include "allocator/capture/python_layout.h"

#include <cstring>

namespace cuheap::capture {
namespace {

constexpr int kFirstWithOwnTable = 13;

// The head of _Py_DebugOffsets, the same in every version that has it.
constexpr char kCookie[8] = {'x', 'd', 'e', 'b', 'u', 'g', 'p', 'y'};
constexpr int kVersionWord = 1;
constexpr int kFreeThreadedWord = 2;
// Nothing that a walk reads lies further inside a structure; a larger number is no offset.
constexpr std::uint64_t kLargestOffset = 4096;

// The word of _Py_DebugOffsets that holds a field, 0 = none does.
constexpr int WordOf(int minor, int, int, int, int, int, int, int word313, int word314) {
  return minor == 13 ? word313 : minor == 14 ? word314 : 0;
}

std::uint64_t Word(const void* runtime, int index) {
  std::uint64_t word = 0;
  std::memcpy(&word, static_cast<const char*>(runtime) + 8 * index, sizeof word);
  return word;
}

// The interpreter's own table is believed when it carries its cookie and names this very version.
bool HasTable(const void* runtime, std::uint32_t version_hex) {
  return runtime != nullptr && std::memcmp(runtime, kCookie, sizeof kCookie) == 0 &&
         Word(runtime, kVersionWord) == version_hex;
}

// False when the interpreter's own offset makes no sense.
bool ReadField(const void* runtime, int word, std::uint16_t* field) {
  if (word == 0) return true;
  const std::uint64_t offset = Word(runtime, word);
  *field = static_cast<std::uint16_t>(offset);
  return offset < kLargestOffset;
}

}  // namespace

bool ReadPythonLayout(std::uint32_t version_hex, const void* runtime, PythonLayout* layout) {
  const int minor = static_cast<int>(version_hex >> 16 & 0xff);
  if (version_hex >> 24 != 3 || minor < PythonLayout::kFirstMinor ||
      minor > PythonLayout::kLastMinor)
    return false;
  if (minor >= kFirstWithOwnTable &&
      (!HasTable(runtime, version_hex) || Word(runtime, kFreeThreadedWord) != 0))
    return false;
  *layout = PythonLayout::FromTable(minor);
  bool sane = true;
#define PYTHON_FIELD(field, ...) \
  sane = ReadField(runtime, WordOf(minor, __VA_ARGS__), &layout->field) && sane;
#include "allocator/capture/python_layouts.def"
#undef PYTHON_FIELD
  return sane;
}

}  // namespace cuheap::capture
