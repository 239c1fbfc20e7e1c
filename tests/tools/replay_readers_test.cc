// The readers of replay: what they make of files as other programs write them, and of bad ones.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tools/replay/minimalloc.h"
#include "tools/replay/ops_text.h"
#include "tools/replay/packed_text.h"
#include "tools/replay/read.h"
#include "tools/replay/rmm_log.h"

namespace cuheap::replay {
namespace {

using testing::HasSubstr;

// The stream as ops text, or the error's message.
std::string Told(const Result<OpStream>& stream) {
  if (!stream.ok()) return stream.error().message;
  EXPECT_EQ(FirstBrokenLaw(*stream), "");
  return WriteOpsText(*stream);
}

TEST(ReplayReadersTest, LifetimesBecomeOperationsInOrderOfTime) {
  EXPECT_EQ(Told(ReadMinimalloc("id,lower,upper,size\n"
                                "b1,0,3,4\nb2,3,9,5\nb3,0,9,6\n")),
            "cuheap-ops 1\na 4\na 6\nf 2\na 5\nf 1\nf 2\n");
}

TEST(ReplayReadersTest, AnEndIsTheLastMomentOfALife) {
  EXPECT_EQ(Told(ReadMinimalloc("buffer_id,start,end,size\nb1,0,2,4\nb2,3,3,5\n")),
            "cuheap-ops 1\na 4\nf 1\na 5\nf 1\n");
  EXPECT_EQ(Told(ReadMinimalloc("size,begin,end,id\n4,0,3,x\n5,3,4,y\n")),
            "cuheap-ops 1\na 4\na 5\nf 2\nf 1\n");
}

TEST(ReplayReadersTest, BadLifetimesAreRefusedWithTheirLine) {
  const auto told = [](const char* rows) {
    return Told(ReadMinimalloc(std::string("id,lower,upper,size\n") + rows));
  };
  EXPECT_THAT(told("a,1,2,3\n\nb,5,5,3\n"), HasSubstr("line 4: the buffer ends before it begins"));
  EXPECT_THAT(told("a,1,2\n"), HasSubstr("line 2: 3 fields, the first line has 4"));
  EXPECT_THAT(told("a,-1,2,3\n"), HasSubstr("line 2: not a number"));
  EXPECT_THAT(told("a,1,2,0\n"), HasSubstr("line 2: no block has 0 bytes"));
  EXPECT_THAT(told("a,1,18446744073709551615,1\n"), HasSubstr("line 2: impossible time"));
  EXPECT_THAT(Told(ReadMinimalloc("id,size\n")), HasSubstr("line 1: the columns lower"));
}

constexpr const char* kRmmHeader = "Thread,Time,Action,Pointer,Size,Stream\n";

TEST(ReplayReadersTest, ALogOfRmmIsReadLineByLine) {
  EXPECT_EQ(Told(ReadRmmLog(std::string(kRmmHeader) +
                            "1,10:00:00:000001,allocate,0x7f0000000000,1024,0x0\n"
                            "1,10:00:00:000002,allocate,0x7f0000000400,99,0x5581\n"
                            "1,10:00:00:000003,allocate failure,(nil),99999,0x0\n"
                            "1,10:00:00:000004,free,0x7f0000000000,1024,0x0\n")),
            "cuheap-ops 1\na 1024\n@ 0 1\na 99\nf 2\n");
}

TEST(ReplayReadersTest, ABlockThatAnotherThreadGotBeforeItsFreeWasLoggedIsFreedThere) {
  EXPECT_EQ(
      Told(ReadRmmLog(std::string(kRmmHeader) + "1,t,allocate,0x10,8,0\n2,t,allocate,0x10,9,0\n"
                                                "1,t,free,0x10,8,0\n2,t,free,0x10,9,0\n")),
      "cuheap-ops 1\na 8\nf 1\na 9\nf 1\n");
}

TEST(ReplayReadersTest, BadLogsAreRefusedWithTheirLine) {
  const auto told = [](const char* rows) {
    return Told(ReadRmmLog(std::string(kRmmHeader) + rows));
  };
  EXPECT_THAT(told("1,t,free,0x10,8,0\n"), HasSubstr("line 2: no block lives at 0x10"));
  EXPECT_THAT(told("1,t,resize,0x10,8,0\n"), HasSubstr("neither allocate nor free: 'resize'"));
  EXPECT_THAT(told("1,t,allocate,0xzz,8,0\n"), HasSubstr("line 2: not a number"));
  EXPECT_THAT(told("1,t,allocate,0x10,99999999999999,0\n"), HasSubstr("no block has"));
  EXPECT_THAT(told("1,t\n"), HasSubstr("line 2: 2 fields"));
  EXPECT_THAT(Told(ReadRmmLog("Thread,Time,Action\n")), HasSubstr("line 1: the columns Action"));
}

TEST(ReplayReadersTest, OperationsComeBackAsTheyWere) {
  const std::string text = "cuheap-ops 1\na 5\n@ 1 2\na 7\ns\nu 2 3\nf 2\n@ 0 0\na 1\nf 2\n";
  EXPECT_EQ(Told(ReadOpsText(text)), text);
  EXPECT_EQ(Told(ReadBytes(Packed(text))), text);
  EXPECT_EQ(Told(ReadOpsText("cuheap-ops 1\n# a word for people, of any length\na 5\n")),
            "cuheap-ops 1\na 5\n");
}

TEST(ReplayReadersTest, BadOperationsAreRefusedWithTheirLine) {
  const auto told = [](const char* rows) {
    return Told(ReadOpsText(std::string("cuheap-ops 1\n") + rows));
  };
  EXPECT_THAT(told("f 1\n"), HasSubstr("line 2: no block is that far"));
  EXPECT_THAT(told("a 5\nf 1\nf 1\n"), HasSubstr("line 4: the block was freed before"));
  EXPECT_THAT(told("a 0\n"), HasSubstr("line 2: no block has that size"));
  EXPECT_THAT(told("x 1\n"), HasSubstr("line 2: neither"));
  EXPECT_THAT(told("@ 16 0\n"), HasSubstr("beyond the sixteenth"));
  EXPECT_THAT(told("a five\n"), HasSubstr("not a number"));
}

TEST(ReplayReadersTest, WhatIsNoTraceIsToldFromOne) {
  EXPECT_THAT(Told(ReadBytes("hello\n")), HasSubstr("none of what replay reads"));
  EXPECT_THAT(Told(ReadBytes("")), HasSubstr("empty"));
  EXPECT_THAT(Told(ReadBytes(std::string("\x1f\x8b\x08 not gzip"))), HasSubstr("cut or damaged"));
  const std::string packed = Packed("cuheap-ops 1\na 5\n");
  EXPECT_THAT(Told(ReadBytes(packed.substr(0, packed.size() - 9))), HasSubstr("cut or damaged"));
  EXPECT_THAT(Told(ReadBytes(Packed(packed))), HasSubstr("gzip behind gzip"));
}

TEST(ReplayReadersTest, TheLawsOfAStreamAreChecked) {
  const auto broken = [](std::vector<Op> ops) { return FirstBrokenLaw({std::move(ops), {}}); };
  const Op birth{.bytes = 5_B, .kind = OpKind::kAllocate};
  const Op death{.kind = OpKind::kFree};
  EXPECT_EQ(broken({birth, death}), "");
  EXPECT_THAT(broken({birth, birth}), HasSubstr("law 1"));
  EXPECT_THAT(broken({birth, death, death}), HasSubstr("law 2"));
  EXPECT_THAT(broken({{.kind = OpKind::kAllocate}}), HasSubstr("law 3"));
}

}  // namespace
}  // namespace cuheap::replay
