#include "allocator/frontend/destination.h"

#include <gtest/gtest.h>

namespace cuheap {
namespace {

constexpr ProcessFacts kFacts = {
    .program = "python", .host = "node1", .folder = "/home/me", .pid = 42, .rank = 3};

std::string Fill(std::string_view pattern, const ProcessFacts& facts = kFacts) {
  char path[64];
  return FillDestination(pattern, facts, path) ? path : "does not fit";
}

TEST(DestinationTest, LettersStandForFactsOfTheProcess) {
  EXPECT_EQ(Fill("/t/%h-%p-%r.cuheap"), "/t/node1-42-3.cuheap");
  EXPECT_EQ(Fill("/t/100%%.cuheap"), "/t/100%.cuheap");
}

TEST(DestinationTest, AnotherPercentSignStandsForItself) { EXPECT_EQ(Fill("/t/%x%"), "/t/%x%"); }

TEST(DestinationTest, AnUnknownRankIsADash) {
  ProcessFacts facts = kFacts;
  facts.rank = -1;
  EXPECT_EQ(Fill("/t/%r", facts), "/t/-");
}

TEST(DestinationTest, ARelativePathStartsAtTheFolder) {
  EXPECT_EQ(Fill("a.cuheap"), "/home/me/a.cuheap");
  ProcessFacts facts = kFacts;
  facts.folder = "/";
  EXPECT_EQ(Fill("a.cuheap", facts), "/a.cuheap");
}

TEST(DestinationTest, WithoutATemplateTheNameTellsProgramHostAndPid) {
  EXPECT_EQ(Fill(""), "/home/me/python.node1.42.cuheap");
}

TEST(DestinationTest, APathThatDoesNotFitIsRefusedAndLeavesAnEmptyText) {
  char path[8] = "before";
  EXPECT_FALSE(FillDestination("/a/very/long/path", kFacts, path));
  EXPECT_STREQ(path, "");
}

}  // namespace
}  // namespace cuheap
