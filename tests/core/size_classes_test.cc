#include "allocator/core/size_classes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <string>

namespace cuheap::core {
namespace {

std::string Table(const SizeClasses& classes) {
  char* text = nullptr;
  std::size_t length = 0;
  std::FILE* out = open_memstream(&text, &length);
  classes.Print(out);
  std::fclose(out);
  std::string table(text, length);
  std::free(text);
  return table;
}

void ExpectValid(const SizeClassRules& rules) {
  const SizeClasses classes(rules);
  const char* broken = classes.Validate();
  EXPECT_EQ(broken, nullptr) << broken << '\n' << Table(classes);
}

TEST(SizeClassesTest, TheDefaultIsValid) { ExpectValid({}); }

TEST(SizeClassesTest, ExtremeRulesAreValid) {
  for (std::uint32_t granule_log2 : {0u, 4u, 9u, 12u})
    for (std::uint32_t steps_log2 : {0u, 1u, 3u, 4u})
      for (const Bytes largest : {64_KiB, 1_MiB, 4_MiB})
        ExpectValid({.granule_log2 = granule_log2, .steps_log2 = steps_log2, .largest = largest});
}

TEST(SizeClassesTest, BrokenRulesAreNamed) {
  EXPECT_STREQ(SizeClasses({.largest = Bytes(1'000'000)}).Validate(),
               "the largest size is a power of two");
  for (const std::uint32_t fewest : {0u, SizeClasses::kMostInSlab + 1})
    EXPECT_STREQ(SizeClasses({.fewest_in_slab = fewest}).Validate(), "a slab has 1 to 128 blocks");
}

// Not through the arithmetic of the map: each size, the least class that holds it.
TEST(SizeClassesTest, EverySizeHasTheLeastClassThatHoldsIt) {
  const SizeClasses classes;
  std::uint32_t least = 0;
  for (std::uint64_t size = 1; size <= 1u << 20; ++size) {
    if (classes.SizeOf(SizeClass(least)).count() < size) ++least;
    ASSERT_EQ(Value(classes.Of(Bytes(size))), least) << size;
  }
  EXPECT_EQ(least + 1, classes.count());
}

TEST(SizeClassesTest, SlabsAreWholeAndLargeBlocksStandAlone) {
  const SizeClasses classes;
  for (std::uint32_t i = 0; i < classes.count(); ++i) {
    const Bytes size = classes.SizeOf(SizeClass(i));
    const std::uint32_t blocks = classes.BlocksInSlab(SizeClass(i));
    EXPECT_LE(blocks, SizeClasses::kMostInSlab);
    EXPECT_EQ(classes.SlabOf(SizeClass(i)).count(), size.count() * blocks);
    if (size > classes.rules().shared)
      EXPECT_EQ(blocks, 1u) << size.count();
    else
      EXPECT_GE(blocks, classes.rules().fewest_in_slab) << size.count();
  }
}

TEST(SizeClassesTest, TheTableHasALineForEachClass) {
  const std::string table = Table(SizeClasses());
  EXPECT_EQ(std::count(table.begin(), table.end(), '\n'), 1 + SizeClasses().count());
  EXPECT_NE(table.find("   71    1048576     65536      6.2%       1    1048576"),
            std::string::npos)
      << table;
}

}  // namespace
}  // namespace cuheap::core
