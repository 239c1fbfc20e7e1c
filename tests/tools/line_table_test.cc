#include "tools/trace/line_table.h"

#include <gtest/gtest.h>

#include <fstream>
#include <random>
#include <sstream>
#include <string>
#include <vector>

namespace cuheap::trace {
namespace {

std::vector<std::uint8_t> FromHex(const std::string& text) {
  std::vector<std::uint8_t> bytes;
  for (std::size_t i = 0; text != "-" && i + 1 < text.size(); i += 2) {
    bytes.push_back(static_cast<std::uint8_t>(std::stoul(text.substr(i, 2), nullptr, 16)));
  }
  return bytes;
}

TEST(LineTableTest, EveryInstructionOfRealInterpretersHasTheirLine) {
  std::ifstream file(std::string(CUHEAP_TEST_DATA) + "/line_tables.txt");
  std::size_t checked = 0;
  std::vector<std::uint32_t> versions;
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string version_text;
    std::string table_text;
    std::int32_t first_line = 0;
    words >> version_text >> first_line >> table_text;
    const auto version = static_cast<std::uint32_t>(std::stoul(version_text, nullptr, 16));
    if (versions.empty() || versions.back() != version) versions.push_back(version);
    const std::vector<std::uint8_t> table = FromHex(table_text);
    unsigned begin = 0;
    unsigned end = 0;
    int expected = 0;
    char colon = 0;
    while (words >> begin >> colon >> end >> colon >> expected) {
      for (unsigned at = begin; at < end; at += 2) {
        ASSERT_EQ(LineOf(version, table, first_line, at).value_or(0), expected)
            << version_text << " first line " << first_line << " offset " << at;
        ++checked;
      }
    }
  }
  EXPECT_EQ(versions.size(), 5u) << "3.9 to 3.13";
  EXPECT_GT(checked, 1000u);
}

TEST(LineTableTest, AnyBytesAreSafe) {
  std::mt19937 random(7);
  for (int round = 0; round < 2000; ++round) {
    std::vector<std::uint8_t> table(random() % 40);
    for (std::uint8_t& octet : table) octet = static_cast<std::uint8_t>(random());
    for (const std::uint32_t version :
         {0x03090000u, 0x030a0000u, 0x030b0000u, 0x030e0000u, 0xffffffffu}) {
      const auto line = LineOf(version, table, static_cast<std::int32_t>(random()),
                               static_cast<std::uint32_t>(random() % 64));
      EXPECT_GE(line.value_or(0), 0);
    }
  }
}

}  // namespace
}  // namespace cuheap::trace
