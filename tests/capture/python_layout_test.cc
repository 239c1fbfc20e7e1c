#include "allocator/capture/python_layout.h"

#include <gtest/gtest.h>

#include <array>
#include <cstring>

#include "allocator/capture/python_api.h"

namespace cuheap::capture {
namespace {

// A runtime that publishes its offsets: word i holds i, so a field shows where it was read.
struct Runtime {
  std::array<std::uint64_t, 128> words{};
  explicit Runtime(std::uint64_t version) {
    for (std::size_t i = 0; i < words.size(); ++i) words[i] = i;
    std::memcpy(words.data(), "xdebugpy", 8);
    words[1] = version;
    words[2] = 0;
  }
};

TEST(PythonLayout, EveryVersionFrom39To312ComesFromTheTable) {
  for (const unsigned minor : {9u, 10u, 11u, 12u}) {
    PythonLayout layout;
    EXPECT_TRUE(ReadPythonLayout(0x030000f0 | minor << 16, nullptr, &layout)) << minor;
    EXPECT_NE(layout.frame_previous, 0);
  }
}

TEST(PythonLayout, OtherVersionsAreUnknown) {
  PythonLayout layout;
  for (const std::uint32_t version : {0x02071200u, 0x030812f0u, 0x030f00f0u, 0x040000f0u, 0u})
    EXPECT_FALSE(ReadPythonLayout(version, nullptr, &layout)) << std::hex << version;
}

TEST(PythonLayout, From313OnTheInterpretersOwnTableCounts) {
  PythonLayout layout;
  const Runtime runtime13(0x030d01f0);
  ASSERT_TRUE(ReadPythonLayout(0x030d01f0, &runtime13, &layout));
  EXPECT_EQ(layout.thread_frame, 23);
  EXPECT_EQ(layout.code_bytes, 43);
  EXPECT_EQ(layout.code_first_traceable, 184);
  const Runtime runtime14(0x030e00f0);
  ASSERT_TRUE(ReadPythonLayout(0x030e00f0, &runtime14, &layout));
  EXPECT_EQ(layout.thread_frame, 26);
  EXPECT_EQ(layout.frame_owner, 36);
  EXPECT_EQ(layout.text_kind_shift, 16);
}

TEST(PythonLayout, ARuntimeWhoseTableMakesNoSenseIsRefused) {
  PythonLayout layout;
  EXPECT_FALSE(ReadPythonLayout(0x030d00f0, nullptr, &layout));
  const Runtime other_version(0x030d01f0);
  EXPECT_FALSE(ReadPythonLayout(0x030d00f0, &other_version, &layout));
  Runtime no_cookie(0x030d00f0);
  no_cookie.words[0] ^= 1;
  EXPECT_FALSE(ReadPythonLayout(0x030d00f0, &no_cookie, &layout));
  Runtime free_threaded(0x030d00f0);
  free_threaded.words[2] = 1;
  EXPECT_FALSE(ReadPythonLayout(0x030d00f0, &free_threaded, &layout));
  Runtime far_away(0x030d00f0);
  far_away.words[30] = 1 << 20;
  EXPECT_FALSE(ReadPythonLayout(0x030d00f0, &far_away, &layout));
}

TEST(PythonVersion, IsReadFromItsText) {
  EXPECT_EQ(ParsePythonVersion("3.13.0 (main, Oct  7 2024)"), 0x030d00f0u);
  EXPECT_EQ(ParsePythonVersion("3.9.18 (main)"), 0x030912f0u);
  EXPECT_EQ(ParsePythonVersion("3.14.0rc2 (main)"), 0x030e00c2u);
  EXPECT_EQ(ParsePythonVersion("3.14.0a7+ (heads/main)"), 0x030e00a7u);
  EXPECT_EQ(ParsePythonVersion("3.12.1+ (heads/3.12)"), 0x030c01f0u);
  EXPECT_EQ(ParsePythonVersion("unknown"), 0u);
}

}  // namespace
}  // namespace cuheap::capture
