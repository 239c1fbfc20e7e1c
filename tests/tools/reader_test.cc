#include "tools/trace/reader.h"

#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <random>

#include "tests/tools/trace_maker.h"
#include "tools/analysis/report.h"
#include "tools/render/json.h"
#include "tools/render/records.h"
#include "tools/render/text.h"
#include "tools/trace/locate.h"

namespace cuheap {
namespace {

namespace fs = std::filesystem;
using format::Heap;

ErrorKind KindOf(const Result<trace::Trace>& result) {
  return result.ok() ? ErrorKind::kAbsent : result.error().kind;
}

// Everything a user can do with a trace; for inputs where only survival matters.
void UseFully(const std::string& path) {
  const Result<trace::Trace> trace = trace::ReadTrace(path);
  if (!trace.ok()) {
    EXPECT_FALSE(trace.error().message.empty());
    EXPECT_EQ(trace.error().message.find('\n'), std::string::npos);
    return;
  }
  trace::TraceFrames frames(*trace);
  for (const char* at : {"step", "peak", "oom", "end"}) {
    const Result<analysis::Report> report =
        analysis::MakeReport(*trace, {*analysis::At::Parse(at), {}, {}}, &frames);
    if (!report.ok()) continue;
    EXPECT_FALSE(render::Text(*report, {}).empty());
    EXPECT_FALSE(render::Dump(render::ToJson(*report), -1).empty());
  }
  render::EachRecord(*trace, &frames,
                     [](const auto& record) { EXPECT_FALSE(render::RecordLine(record).empty()); });
}

// A trace with a bit of everything.
void Fill(TraceMaker* maker) {
  const SiteId weights = maker->Site(Heap::k_torch, {"model.py", "__init__", 3});
  const SiteId leak = maker->Site(Heap::k_torch, {"train.py", "train", 14});
  const SiteId segment = maker->Site(Heap::k_driver, {"torch.py", "malloc", 1});
  maker->ledger().UsedSample(DeviceId{0}, 300_MiB, 1_GiB);
  maker->Alloc(Heap::k_driver, 1u << 30, 64u << 20, segment, format::kExpectSegment);
  maker->ledger().ServeAsSegment(Heap::k_driver, Address{1u << 30}, Heap::k_torch);
  maker->Alloc(Heap::k_torch, 1u << 30, 1u << 20, weights);
  for (std::uint64_t i = 0; i < 60; ++i) {
    maker->Alloc(Heap::k_torch, (1u << 30) + (2 + i) * 65536 + (1u << 20), 65536, leak);
    maker->Alloc(Heap::k_torch, (1u << 30) + (40u << 20), 1u << 20, leak);
    maker->Free(Heap::k_torch, (1u << 30) + (40u << 20));
    maker->Step();
  }
  maker->ledger().Mark("middle");
  maker->ledger().OutOfMemory(DeviceId{0}, 512_MiB);
}

TEST(ReaderTest, WhatTheLedgerWroteIsRead) {
  TraceMaker maker;
  Fill(&maker);
  const trace::Trace trace = maker.Finish();
  EXPECT_TRUE(trace.completeness.clean_close);
  EXPECT_FALSE(trace.completeness.cut);
  EXPECT_EQ(trace.completeness.damaged_records, 0u);
  EXPECT_EQ(trace.steps, 60u);
  EXPECT_EQ(trace.clock, format::Signal::k_program);
  std::uint64_t live = 0;
  for (const trace::Block& block : trace.blocks) live += block.free_time == 0 ? 1 : 0;
  EXPECT_EQ(live, 62u);
  EXPECT_EQ(trace.dictionary.site_count(), 3u);
  EXPECT_EQ(trace.totals_of(2).blocks, 120u);
  EXPECT_EQ(trace.totals_of(2).freed_blocks, 60u);
  EXPECT_EQ(trace.ticks[0].size(), 60u);
  trace::TraceFrames frames(trace);
  const trace::Frame expected{"train", "train.py", 14, true};
  EXPECT_EQ(frames.FramesOf(2), std::vector{expected});
}

TEST(ReaderTest, ARunningProcessIsReadInPlaceAndSaidToRun) {
  TraceMaker maker;
  Fill(&maker);
  const trace::Trace trace = maker.Read();
  EXPECT_FALSE(trace.completeness.clean_close);
  EXPECT_TRUE(trace.completeness.running);
}

TEST(ReaderTest, BadInputIsOneClearLine) {
  TemporaryFolder folder;
  const std::string path = folder.path() + "/x.cuheap";
  EXPECT_EQ(KindOf(trace::ReadTrace(path)), ErrorKind::kMissing);
  WriteBytes(path, "");
  EXPECT_EQ(KindOf(trace::ReadTrace(path)), ErrorKind::kEmpty);
  WriteBytes(path, "import torch\n" + std::string(9000, 'x'));
  EXPECT_EQ(KindOf(trace::ReadTrace(path)), ErrorKind::kForeign);
  EXPECT_EQ(KindOf(trace::ReadTrace(folder.path())), ErrorKind::kUnreadable);
}

TEST(ReaderTest, ANewerMajorVersionIsRefusedByName) {
  TraceMaker maker;
  Fill(&maker);
  maker.Finish();
  std::string bytes = ReadBytes(maker.path());
  bytes[offsetof(format::FileHeader, major)] = 9;
  WriteBytes(maker.path(), bytes);
  const Result<trace::Trace> trace = trace::ReadTrace(maker.path());
  ASSERT_EQ(KindOf(trace), ErrorKind::kNewer);
  EXPECT_NE(trace.error().message.find("9.0"), std::string::npos);
}

TEST(ReaderTest, AnUnknownChunkIsSkippedByItsSize) {
  TraceMaker maker;
  Fill(&maker);
  const trace::Trace before = maker.Finish();
  std::string bytes = ReadBytes(maker.path());
  std::uint64_t used = 0;
  std::memcpy(&used, bytes.data() + offsetof(format::FileHeader, used_bytes), sizeof(used));
  bytes.resize(used);
  std::string chunk(format::kChunkUnit * 2, '\x7e');
  const std::uint32_t magic = format::kChunkMagic;
  const std::uint16_t type = 900;
  const std::uint64_t size = chunk.size();
  std::memcpy(chunk.data(), &magic, sizeof(magic));
  std::memcpy(chunk.data() + offsetof(format::ChunkHeader, type), &type, sizeof(type));
  std::memcpy(chunk.data() + offsetof(format::ChunkHeader, bytes), &size, sizeof(size));
  bytes.insert(format::kChunkUnit, chunk);
  used += size;
  std::memcpy(bytes.data() + offsetof(format::FileHeader, used_bytes), &used, sizeof(used));
  WriteBytes(maker.path(), bytes);
  const trace::Trace after = maker.Read();
  EXPECT_EQ(after.completeness.unknown_chunks, 1u);
  EXPECT_EQ(after.blocks.size(), before.blocks.size());
}

TEST(ReaderTest, ACutFileGivesWhatStandsBeforeTheCutAndSaysSo) {
  TraceMaker maker;
  Fill(&maker);
  const std::size_t all = maker.Finish().blocks.size();
  const std::string bytes = ReadBytes(maker.path());
  std::uint64_t used = 0;
  std::memcpy(&used, bytes.data() + offsetof(format::FileHeader, used_bytes), sizeof(used));
  std::size_t most = 0;
  for (std::size_t size = format::kChunkUnit; size < used; size += format::kChunkUnit) {
    for (const std::size_t cut : {size, size + 8, size + 63, size + 1001}) {
      if (cut >= used) continue;
      WriteBytes(maker.path(), bytes.substr(0, cut));
      const trace::Trace trace = maker.Read();
      EXPECT_TRUE(trace.completeness.cut) << cut;
      EXPECT_GE(trace.blocks.size(), most) << "a longer file gives no less, cut at " << cut;
      most = std::max(most, trace.blocks.size());
      if (cut == size) UseFully(maker.path());
    }
  }
  EXPECT_LE(most, all);
  WriteBytes(maker.path(), bytes.substr(0, 100));
  EXPECT_EQ(KindOf(trace::ReadTrace(maker.path())), ErrorKind::kCorrupt);
}

TEST(ReaderTest, NoFlippedByteCrashesIt) {
  TraceMaker maker;
  Fill(&maker);
  maker.Finish();
  const std::string bytes = ReadBytes(maker.path());
  // Damage where something stands: most of the file is room for more.
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (bytes[i] != 0) places.push_back(i);
  }
  std::mt19937 random(1);
  for (int round = 0; round < 150; ++round) {
    std::string damaged = bytes;
    for (unsigned flips = 1 + random() % 8; flips > 0; --flips) {
      damaged[places[random() % places.size()]] = static_cast<char>(random());
    }
    WriteBytes(maker.path(), damaged);
    UseFully(maker.path());
  }
}

TEST(ReaderTest, AVanishedTraceIsReplacedByItsCheckpointAndThatIsSaid) {
  TraceMaker maker;
  Fill(&maker);
  maker.Finish();
  const std::string link = maker.folder() + "/link.cuheap";
  fs::create_symlink(maker.folder() + "/gone", link);
  EXPECT_EQ(KindOf(trace::ReadTrace(link)), ErrorKind::kMissing);
  fs::copy_file(maker.path(), trace::CheckpointName(link));
  const Result<trace::Trace> trace = trace::ReadTrace(link);
  ASSERT_TRUE(trace.ok());
  EXPECT_EQ(trace->completeness.instead, trace::CheckpointName(link));
}

}  // namespace
}  // namespace cuheap
