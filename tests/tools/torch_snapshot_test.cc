// Pickles: the plain values that CPython writes, what is refused, and PyTorch's snapshots in them.
#include "tools/replay/torch_snapshot.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tools/replay/ops_text.h"
#include "tools/replay/pickle.h"

namespace cuheap::replay {
namespace {

using std::string_literals::operator""s;
using testing::HasSubstr;

std::string MessageOf(const std::string& bytes) {
  const Result<Pickle> pickle = Pickle::Read(bytes);
  return pickle.ok() ? "read" : pickle.error().message;
}

std::string Text(const std::string& text) {  // BINUNICODE
  std::string code = "X"s;
  for (int i = 0; i < 4; ++i) code += static_cast<char>(text.size() >> (8 * i));
  return code + text;
}

std::string Number(std::uint64_t number) {  // LONG1
  std::string code = "\x8a\x09"s;
  for (int i = 0; i < 8; ++i) code += static_cast<char>(number >> (8 * i));
  return code + '\0';
}

std::string Event(const std::string& action, std::uint64_t address, std::uint64_t size,
                  std::uint64_t stream = 0) {
  return "}(" + Text("action") + Text(action) + Text("addr") + Number(address) + Text("size") +
         Number(size) + Text("stream") + Number(stream) + Text("frames") + "]" + "u";
}

std::string Snapshot(const std::string& events, const std::string& segments = "") {
  return "\x80\x04}("s + Text("segments") + "](" + segments + "e" + Text("device_traces") + "](](" +
         events + "ee" + "u.";
}

std::string Told(const std::string& pickle) {
  const Result<OpStream> stream = ReadTorchSnapshot(pickle);
  if (!stream.ok()) return stream.error().message;
  EXPECT_EQ(FirstBrokenLaw(*stream), "");
  return WriteOpsText(*stream);
}

TEST(PickleTest, PlainValuesOfEveryProtocolAreRead) {
  // pickle.dumps({"a": [1, -2, 300, 1 << 63, None, True, 1.5, b"x", (1, 2)]}, protocol)
  const std::string two =
      "\x80\x02}q\x00X\x01\x00\x00\x00"s + "aq\x01]q\x02(K\x01J\xfe\xff\xff\xffM,\x01"s +
      "\x8a\x09\x00\x00\x00\x00\x00\x00\x00\x80\x00N\x88G?\xf8\x00\x00\x00\x00\x00\x00"s +
      "C\x01xK\x01K\x02\x86q\x03"s + "es."s;
  const std::string four =
      "\x80\x04\x95\x2e\x00\x00\x00\x00\x00\x00\x00}\x94\x8c\x01"s +
      "a\x94]\x94(K\x01J\xfe\xff\xff\xffM,\x01"s +
      "\x8a\x09\x00\x00\x00\x00\x00\x00\x00\x80\x00N\x88G?\xf8\x00\x00\x00\x00\x00\x00"s +
      "C\x01x\x94K\x01K\x02\x86\x94"s + "es."s;
  for (const std::string& bytes : {two, four}) {
    const Result<Pickle> pickle = Pickle::Read(bytes);
    ASSERT_TRUE(pickle.ok()) << pickle.error().message;
    const auto list = pickle->Find(pickle->root(), "a");
    ASSERT_TRUE(list.has_value());
    const auto& items = pickle->Items(*list);
    ASSERT_EQ(items.size(), 9u);
    EXPECT_EQ(pickle->Integer(items[0]), 1u);
    EXPECT_EQ(pickle->Integer(items[1]), ~std::uint64_t{0} - 1);
    EXPECT_EQ(pickle->Integer(items[2]), 300u);
    EXPECT_EQ(pickle->Integer(items[3]), std::uint64_t{1} << 63);
    EXPECT_EQ(pickle->kind(items[4]), PickleKind::kNone);
    EXPECT_EQ(pickle->Integer(items[5]), 1u);
    EXPECT_EQ(pickle->kind(items[6]), PickleKind::kFloat);
    EXPECT_EQ(pickle->kind(items[7]), PickleKind::kBytes);
    EXPECT_EQ(pickle->Items(items[8]).size(), 2u);
  }
}

TEST(PickleTest, ValuesThatWereRememberedComeAgain) {
  const Result<Pickle> pickle = Pickle::Read("\x80\x02]q\x02(K\x07h\x02"s + "e.");
  ASSERT_TRUE(pickle.ok()) << pickle.error().message;
  EXPECT_EQ(pickle->Items(pickle->root())[1], pickle->root()) << "a list in itself";
}

TEST(PickleTest, WhatWouldNameCallOrBuildIsRefused) {
  EXPECT_THAT(MessageOf("\x80\x02"s + "cos\nsystem\n(X\x02\x00\x00\x00"s + "lstR."),
              HasSubstr("offset 2: GLOBAL: the pickle holds objects"));
  EXPECT_THAT(MessageOf("\x80\x04\x8c\x02os\x8c\x06system\x93."s), HasSubstr("STACK_GLOBAL"));
  EXPECT_THAT(MessageOf("\x80\x04)R."s), HasSubstr("REDUCE"));
  EXPECT_THAT(MessageOf("\x80\x04)\x81."s), HasSubstr("NEWOBJ"));
  EXPECT_THAT(MessageOf("\x80\x04)b."s), HasSubstr("BUILD"));
  EXPECT_THAT(MessageOf("\x80\x04\xff."s), HasSubstr("offset 2: instruction 0xff"));
}

TEST(PickleTest, PicklesThatCannotBeMeantAreRefusedWithTheirOffset) {
  EXPECT_THAT(MessageOf("(lp0\n."), HasSubstr("not a pickle of protocol 2"));
  EXPECT_THAT(MessageOf("\x80\x09."s), HasSubstr("protocol other than 2 to 5"));
  EXPECT_THAT(MessageOf("\x80\x02K"s), HasSubstr("offset 2: the pickle is cut"));
  EXPECT_THAT(MessageOf("\x80\x02."s), HasSubstr("offset 2: the stack has too few values"));
  EXPECT_THAT(MessageOf("\x80\x02X\xff\xff\xff\xff"s + "abc"), HasSubstr("cut"));
  EXPECT_THAT(MessageOf("\x80\x02K\x01K\x02"s + "a."), HasSubstr("items for what is no container"));
  EXPECT_THAT(MessageOf("\x80\x02}(K\x01u."s), HasSubstr("a key without a value"));
  EXPECT_THAT(MessageOf("\x80\x02]e."s), HasSubstr("no mark"));
  EXPECT_THAT(MessageOf("\x80\x02h\x03."s), HasSubstr("nothing of that number"));
  EXPECT_THAT(MessageOf("\x80\x02Nr\xff\xff\xff\xff."s), HasSubstr("impossible number"));
  EXPECT_THAT(MessageOf("\x80\x02](0e."s), HasSubstr("too few values")) << "a mark is no value";
}

TEST(TorchSnapshotTest, TheHistoryBecomesOperations) {
  EXPECT_EQ(Told(Snapshot(Event("segment_alloc", 0x1000, 2097152) + Event("alloc", 0x1000, 100) +
                          Event("alloc", 0x1200, 200, 77) + Event("free_requested", 0x1000, 100) +
                          Event("free_completed", 0x1000, 100) + Event("alloc", 0x1000, 4))),
            "cuheap-ops 1\na 100\n@ 0 1\na 200\nf 2\n@ 0 0\na 4\n");
}

TEST(TorchSnapshotTest, BlocksOlderThanTheHistoryStandAtItsBeginning) {
  const std::string block = "}(" + Text("address") + Number(0x9000) + Text("requested_size") +
                            Number(64) + Text("size") + Number(512) + Text("state") +
                            Text("active_allocated") + "u";
  const std::string segment = "}(" + Text("device") + "K"s + '\0' + Text("stream") + "K"s + '\0' +
                              Text("blocks") + "](" + block + "e" + "u";
  EXPECT_EQ(Told(Snapshot(Event("alloc", 1, 5) + Event("free_requested", 2, 7), segment)),
            "cuheap-ops 1\na 7\na 64\na 5\nf 3\n");
}

TEST(TorchSnapshotTest, WhatIsNoHistoryIsToldFromOne) {
  EXPECT_THAT(Told("\x80\x02}."s), HasSubstr("no device_traces"));
  EXPECT_THAT(Told(Snapshot("")), HasSubstr("no history"));
  EXPECT_THAT(Told(Snapshot(Event("alloc", 1, 5) + "K\x01")),
              HasSubstr("device 0, event 1: no action"));
  EXPECT_THAT(Told(Snapshot("}(" + Text("action") + Text("alloc") + "u")), HasSubstr("are wanted"));
  EXPECT_THAT(Told(Snapshot(Event("alloc", 1, std::uint64_t{1} << 60))), HasSubstr("no block has"));
  EXPECT_THAT(Told(Snapshot(Event("alloc", 1, 5) + Event("alloc", 1, 5))),
              HasSubstr("lives already"));
}

}  // namespace
}  // namespace cuheap::replay
