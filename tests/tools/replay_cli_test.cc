// `cuheap replay` as a user types it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/tools/shell.h"
#include "tests/tools/trace_maker.h"

namespace cuheap {
namespace {

using testing::HasSubstr;
using testing::Not;

class ReplayCliTest : public testing::Test {
 protected:
  ReplayCliTest() {
    WriteBytes(folder_.path() + "/x.csv",
               "id,lower,upper,size\na,0,9,20971520\nb,0,5,62914560\nc,5,9,104857600\n");
  }
  Ran Cuheap(const std::string& arguments) {
    return Shell(folder_.path(), std::string(CUHEAP_PROGRAM) + " " + arguments);
  }

  TemporaryFolder folder_;
};

TEST_F(ReplayCliTest, ATableHasARowForEachPolicy) {
  const Ran ran = Cuheap("replay x.csv");
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("x.csv: 6 events: 3 allocations, 3 frees, 0 uses"));
  EXPECT_THAT(ran.out, HasSubstr("torch            120.0 MiB      180.0 MiB  1.500             3"));
  EXPECT_THAT(ran.out, HasSubstr("\nbest_fit "));
  EXPECT_THAT(ran.out, HasSubstr("\nsize_classes "));
  EXPECT_THAT(ran.out, HasSubstr("120.0 MiB  1.000  ")) << "the smallest capacity";
}

TEST_F(ReplayCliTest, FiguresThatRestOnAssumptionsAreMarked) {
  const Ran ran = Cuheap("replay --policy torch x.csv");
  EXPECT_THAT(ran.out, HasSubstr(" us (a)"));
  EXPECT_THAT(ran.out, HasSubstr("60.0 us and 500.0 us for each further GiB (a)"));
  EXPECT_THAT(ran.out, HasSubstr("share of assumptions  100 %"));
  EXPECT_THAT(ran.out, HasSubstr("(a) an assumption, not a measurement"));
}

TEST_F(ReplayCliTest, PoliciesAreChosenByName) {
  const Ran ran = Cuheap("replay --policy best_fit --policy torch x.csv");
  EXPECT_THAT(ran.out, Not(HasSubstr("size_classes")));
  EXPECT_LT(ran.out.find("best_fit"), ran.out.find("torch"));
  const Ran wrong = Cuheap("replay --policy slab x.csv");
  EXPECT_EQ(wrong.status, 2);
  EXPECT_THAT(wrong.err, HasSubstr("--policy slab: there is cuheap, cuheap_unmoved"));
}

TEST_F(ReplayCliTest, ACapacityThatDoesNotSufficeIsExitOne) {
  const Ran ran = Cuheap("replay --policy torch --capacity 110M x.csv");
  EXPECT_EQ(ran.status, 1);
  EXPECT_THAT(ran.out, HasSubstr("torch is out of memory at event 4: 100.0 MiB asked of device 0, "
                                 "where 20.0 MiB live and 20.0 MiB are reserved of 110.0 MiB"));
  EXPECT_EQ(Cuheap("replay --policy torch --capacity 120M x.csv").status, 0);
}

TEST_F(ReplayCliTest, OperationsAreWrittenAndReadAgain) {
  const Ran written = Cuheap("replay --scale 3 --write-ops x.ops.gz x.csv");
  EXPECT_EQ(written.status, 0) << written.err;
  const Ran ran = Cuheap("replay --policy torch x.ops.gz");
  EXPECT_THAT(ran.out, HasSubstr("x.ops.gz: 6 events"));
  EXPECT_THAT(ran.out, HasSubstr("360.0 MiB"));
}

TEST_F(ReplayCliTest, BadTracesAreExitThreeAndOneLine) {
  WriteBytes(folder_.path() + "/bad.csv", "id,lower,upper,size\na,9,0,1\n");
  WriteBytes(folder_.path() + "/foreign", "nothing\n");
  for (const char* file : {"bad.csv", "foreign", "missing", "."}) {
    const Ran ran = Cuheap(std::string("replay ") + file);
    EXPECT_EQ(ran.status, 3) << file;
    EXPECT_THAT(ran.err, HasSubstr(file));
    EXPECT_EQ(std::count(ran.err.begin(), ran.err.end(), '\n'), 1) << ran.err;
  }
  EXPECT_THAT(Cuheap("replay bad.csv").err, HasSubstr("bad.csv: line 2: the buffer ends"));
}

}  // namespace
}  // namespace cuheap
