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
  for (std::uint32_t granule_log2 : {9u, 10u, 12u})
    for (std::uint32_t steps_log2 : {0u, 1u, 3u, 4u})
      for (const Bytes largest : {64_KiB, 1_MiB, 4_MiB})
        ExpectValid({.granule_log2 = granule_log2, .steps_log2 = steps_log2, .largest = largest});
  ExpectValid({.shared = 32_KiB, .fewest_in_slab = 1});
}

TEST(SizeClassesTest, BrokenRulesAreNamed) {
  EXPECT_STREQ(SizeClasses({.largest = Bytes(1'000'000)}).Validate(),
               "the largest size is a power of two");
  EXPECT_STREQ(SizeClasses({.slab_unit = 96_KiB}).Validate(), "a slab unit is a power of two");
  EXPECT_STREQ(SizeClasses({.shared = 128_KiB}).Validate(),
               "blocks that stand alone begin in units of their own");
  EXPECT_STREQ(SizeClasses({.granule_log2 = 8}).Validate(),
               "a slab has enough blocks, and at most 128");
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

TEST(SizeClassesTest, SlabsAreWholeUnitsWithShortTails) {
  const SizeClasses classes;
  std::uint64_t slabs = 0;
  for (std::uint32_t i = 0; classes.HasSlabs(SizeClass(i)); ++i) {
    const std::uint64_t size = classes.SizeOf(SizeClass(i)).count();
    const std::uint64_t slab = classes.SlabOf(SizeClass(i)).count();
    const std::uint64_t blocks = classes.BlocksInSlab(SizeClass(i));
    EXPECT_EQ(slab % (64 << 10), 0u) << size;
    EXPECT_LE(size * blocks, slab) << size;
    EXPECT_GE(size * blocks * 16, slab * 15) << size;
    EXPECT_GE(blocks, 8u) << size;
    slabs += slab;
  }
  EXPECT_LE(slabs, 10u << 20) << "what one block of each class costs a stream";
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
