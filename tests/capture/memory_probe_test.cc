#include "allocator/capture/memory_probe.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cerrno>

namespace cuheap::capture {
namespace {

class MemoryProbe : public testing::Test {
 protected:
  // Two readable pages, one that is mapped but forbidden, one that is not there.
  void SetUp() override {
    void* const pages =
        mmap(nullptr, 4 * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(pages, MAP_FAILED);
    begin_ = reinterpret_cast<std::uintptr_t>(pages);
    ASSERT_EQ(mprotect(static_cast<char*>(pages) + 2 * kPage, kPage, PROT_NONE), 0);
    ASSERT_EQ(munmap(static_cast<char*>(pages) + 3 * kPage, kPage), 0);
  }
  void TearDown() override { munmap(reinterpret_cast<void*>(begin_), 3 * kPage); }

  std::uintptr_t begin_ = 0;
};

TEST_F(MemoryProbe, TellsWhatCanBeRead) {
  EXPECT_TRUE(IsReadable(begin_));
  EXPECT_TRUE(IsReadable(begin_ + 2 * kPage - 1));
  EXPECT_FALSE(IsReadable(begin_ + 2 * kPage));
  EXPECT_FALSE(IsReadable(begin_ + 3 * kPage));
  EXPECT_FALSE(IsReadable(0));
  EXPECT_FALSE(IsReadable(~std::uintptr_t{0}));
  EXPECT_FALSE(IsReadable(std::uintptr_t{1} << 63));
}

TEST_F(MemoryProbe, FindsTheFirstPageThatCannot) {
  EXPECT_EQ(ReadableUpTo(begin_ + 8, begin_ + 4 * kPage), begin_ + 2 * kPage);
  EXPECT_EQ(ReadableUpTo(begin_, begin_ + 100), begin_ + 100);
  EXPECT_EQ(ReadableUpTo(begin_ + 2 * kPage + 8, begin_ + 3 * kPage), begin_ + 2 * kPage + 8);
}

TEST_F(MemoryProbe, KeepsTheErrorNumber) {
  errno = 77;
  IsReadable(begin_);
  IsReadable(0);
  EXPECT_EQ(errno, 77);
}

}  // namespace
}  // namespace cuheap::capture
