#include "allocator/capture/python_text.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

namespace cuheap::capture {
namespace {

// A str object of 3.12's shape.
class FakeText {
 public:
  template <typename Character>
  FakeText(std::basic_string<Character> text, bool ascii)
      : bytes_(56 + text.size() * sizeof(Character)) {
    EXPECT_TRUE(ReadPythonLayout(0x030c00f0, nullptr, &layout_));
    const std::uint64_t length = text.size();
    const std::uint32_t state =
        static_cast<std::uint32_t>(sizeof(Character)) << 2 | 1 << 5 | (ascii ? 1 << 6 : 0);
    std::memcpy(bytes_.data() + layout_.text_length, &length, sizeof length);
    std::memcpy(bytes_.data() + layout_.text_state, &state, sizeof state);
    std::memcpy(bytes_.data() + (ascii ? layout_.text_ascii : layout_.text_wide), text.data(),
                text.size() * sizeof(Character));
  }

  std::string Read(std::size_t room = 1000) {
    std::vector<char> scratch(room);
    std::span<char> rest(scratch);
    return std::string(
        ReadPythonText(layout_, reinterpret_cast<std::uintptr_t>(bytes_.data()), &rest));
  }

  PythonLayout layout_;
  std::vector<char> bytes_;
};

TEST(PythonText, AsciiIsReadInPlace) {
  EXPECT_EQ(FakeText(std::string("train.py"), true).Read(0), "train.py");
}

TEST(PythonText, EveryWidthBecomesUtf8) {
  EXPECT_EQ(FakeText(std::string("caf\xe9"), false).Read(), "caf\u00e9");
  EXPECT_EQ(FakeText(std::u16string(u"\u03b1\u20ac"), false).Read(), "\u03b1\u20ac");
  EXPECT_EQ(FakeText(std::u32string(U"a\U0001f600"), false).Read(), "a\U0001f600");
}

TEST(PythonText, IsCutBetweenCharacters) {
  EXPECT_EQ(FakeText(std::u16string(u"\u20ac\u20ac"), false).Read(5), "\u20ac");
  EXPECT_EQ(FakeText(std::u16string(u"\u20ac"), false).Read(0), "");
}

TEST(PythonText, ALoneSurrogateIsReplaced) {
  EXPECT_EQ(FakeText(std::u16string{u'a', char16_t{0xdc80}}, false).Read(), "a\ufffd");
}

TEST(PythonText, WhatIsNoCompactTextIsSaidToBeUnreadable) {
  FakeText text(std::string("x"), true);
  std::uint32_t state = 1 << 2;
  std::memcpy(text.bytes_.data() + text.layout_.text_state, &state, sizeof state);
  EXPECT_EQ(text.Read(), "?");
  FakeText endless(std::string("x"), true);
  const std::uint64_t length = ~std::uint64_t{0};
  std::memcpy(endless.bytes_.data() + endless.layout_.text_length, &length, sizeof length);
  EXPECT_EQ(endless.Read(), "?");
}

}  // namespace
}  // namespace cuheap::capture
