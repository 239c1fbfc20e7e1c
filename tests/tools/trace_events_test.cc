// Events of a trace: read, printed, and turned into operations.
#include "tools/replay/trace_events.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/tools/shell.h"
#include "tests/tools/trace_maker.h"
#include "tools/replay/ops_text.h"

namespace cuheap {
namespace {

using format::Heap;
using format::Mode;
using testing::HasSubstr;

class TraceEventsTest : public testing::Test {
 protected:
  void Alloc(Heap heap, std::uint64_t address, std::uint64_t bytes, std::uint8_t flags = 0) {
    maker.Alloc(heap, address, bytes, maker.Site(heap, {"a.py", "f", 1}), flags);
  }
  std::string Told(const std::string& heap = "") {
    const Result<replay::OpStream> stream = replay::ReadTraceEvents(maker.Read(), heap);
    if (!stream.ok()) return stream.error().message;
    EXPECT_EQ(replay::FirstBrokenLaw(*stream), "");
    notes = stream->notes;
    return replay::WriteOpsText(*stream);
  }

  TraceMaker maker{256u << 20, Mode::kFull};
  std::vector<std::string> notes;
};

TEST_F(TraceEventsTest, ThoseOfTorchAreChosenWhereThereAreAny) {
  Alloc(Heap::k_driver, 0x1000, 2 << 20, format::kExpectSegment);
  EXPECT_EQ(Told(), "cuheap-ops 1\na 2097152\n");
  Alloc(Heap::k_torch, 0x1000, 512);
  maker.Step();
  maker.Free(Heap::k_torch, 0x1000);
  EXPECT_EQ(Told(), "cuheap-ops 1\na 512\ns\nf 1\n");
  EXPECT_THAT(notes[1], HasSubstr("requests"));
  EXPECT_EQ(Told("driver"), "cuheap-ops 1\na 2097152\ns\n");
  EXPECT_THAT(Told("pinned"), HasSubstr("no events of a heap 'pinned'"));
}

TEST_F(TraceEventsTest, AFreeThatFailedIsNone) {
  Alloc(Heap::k_driver, 0x1000, 100);
  maker.Free(Heap::k_driver, 0x1000);
  maker.ledger().Undo(Heap::k_driver, Address(0x1000));
  maker.Free(Heap::k_driver, 0x1000);
  Alloc(Heap::k_driver, 0x1000, 200);
  EXPECT_EQ(Told(), "cuheap-ops 1\na 100\nf 1\na 200\n");
}

TEST_F(TraceEventsTest, EventsArePrinted) {
  Alloc(Heap::k_driver, 0x1000, 100);
  maker.Finish();
  const std::string program = CUHEAP_PROGRAM;
  EXPECT_THAT(Shell(maker.folder(), program + " cat t.cuheap").out,
              HasSubstr("event kind=\"allocation\" time="));
  EXPECT_THAT(Shell(maker.folder(), program + " info t.cuheap").out,
              HasSubstr("full: 1 kept, 0 not"));
  EXPECT_THAT(Shell(maker.folder(), program + " replay t.cuheap").out,
              HasSubstr("t.cuheap: 1 event: 1 allocation, 0 frees"));
}

TEST(TraceEventsOfARingTest, WhatIsOlderThanTheRingStandsAtItsBeginning) {
  TraceMaker maker(1u << 20, Mode::kEvents);
  const SiteId site = maker.Site(Heap::k_driver, {"a.py", "f", 1});
  maker.Alloc(Heap::k_driver, 0x1000, 11, site);
  maker.Alloc(Heap::k_driver, 0x2000, 22, site);
  for (int i = 0; i < 10000; ++i) {
    maker.Alloc(Heap::k_driver, 0x3000, 33, site);
    maker.Free(Heap::k_driver, 0x3000);
  }
  maker.Free(Heap::k_driver, 0x1000);
  const Result<replay::OpStream> stream = replay::ReadTraceEvents(maker.Read(), "");
  ASSERT_TRUE(stream.ok()) << stream.error().message;
  EXPECT_EQ(replay::FirstBrokenLaw(*stream), "");
  const std::string text = replay::WriteOpsText(*stream);
  EXPECT_THAT(text.substr(0, 40), HasSubstr("\na 11\n"));
  EXPECT_THAT(text.substr(0, 40), HasSubstr("\na 22\n"));
  EXPECT_EQ(replay::FiguresOf(*stream).peak_live[0], 66_B);
  EXPECT_THAT(stream->notes, testing::Contains(HasSubstr("events were not kept")));
}

TEST(TraceEventsOfARingTest, ASummaryHasNothingToReplay) {
  TraceMaker maker;
  maker.Alloc(Heap::k_driver, 0x1000, 11, maker.Site(Heap::k_driver, {"a.py", "f", 1}));
  EXPECT_THAT(replay::ReadTraceEvents(maker.Read(), "").error().message,
              HasSubstr("no events; cuheap run --mode full records them"));
}

}  // namespace
}  // namespace cuheap
