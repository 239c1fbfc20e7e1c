// Reports of one deterministic job against golden files. CUHEAP_UPDATE_GOLDEN=1 writes them anew;
// look at the difference.
#include <gtest/gtest.h>

#include <cstdlib>
#include <set>

#include "tests/tools/trace_maker.h"
#include "tools/analysis/report.h"
#include "tools/render/info.h"
#include "tools/render/json.h"
#include "tools/render/records.h"
#include "tools/render/text.h"
#include "tools/trace/reader.h"

namespace cuheap {
namespace {

using format::Heap;

constexpr std::uint64_t kMiB = 1 << 20;
constexpr std::uint64_t kBase = std::uint64_t{1} << 32;

void PlayJob(TraceMaker* maker) {
  const SiteId segment =
      maker->Site(Heap::k_driver, {"/x/site-packages/torch/cuda.py", "malloc", 1});
  const SiteId weights = maker->Site(Heap::k_torch, {"/home/u/model.py", "__init__", 3});
  const SiteId state =
      maker->Site(Heap::k_torch, {"/x/site-packages/torch/optim/adam.py", "_init_group", 99});
  const SiteId leak = maker->Site(Heap::k_torch, {"/home/u/train.py", "train", 14});
  const SiteId pinned = maker->Site(Heap::k_pinned, {"/home/u/train.py", "loader", 30});
  Ledger& ledger = maker->ledger();
  ledger.DeviceIdentity(DeviceId{0}, std::array<std::uint8_t, 16>{1, 2, 3}, "0000:10:00.0");
  for (std::uint64_t i = 0; i < 2; ++i) {
    maker->Alloc(Heap::k_driver, kBase + i * 600 * kMiB, 600 * kMiB, segment,
                 format::kExpectSegment);
  }
  ledger.ServeAsSegment(Heap::k_driver, Address{kBase}, Heap::k_torch);
  ledger.UsedSample(DeviceId{0}, Bytes(1300 * kMiB), 4_GiB);
  for (std::uint64_t i = 0; i < 8; ++i)
    maker->Alloc(Heap::k_torch, kBase + i * 2 * kMiB, kMiB, weights);
  maker->Alloc(Heap::k_pinned, 4096, 16 * kMiB, pinned);
  for (std::uint64_t step = 0; step < 240; ++step) {
    if (step == 0) maker->Alloc(Heap::k_torch, kBase + 20 * kMiB, 8 * kMiB, state);
    maker->Alloc(Heap::k_torch, kBase + (40 + step * 2) * kMiB, kMiB, leak);
    maker->Step();
  }
}

struct Golden {
  Golden() {
    PlayJob(&maker);
    trace = maker.Finish();
    // What differs from machine to machine.
    trace.path = "a.cuheap";
    trace.identity.host = "host";
    trace.identity.pid = 4711;
    trace.identity.program = "python train.py";
    trace.file_bytes = 368640;
    trace.identity.process_start_ticks = 1;
    trace.identity.destination = "/a.cuheap";
  }
  analysis::Report Report(const std::string& at) {
    return *analysis::MakeReport(trace, {*analysis::At::Parse(at), {}, {}}, &frames);
  }
  TraceMaker maker;
  trace::Trace trace;
  trace::TraceFrames frames{trace};
};

void ExpectGolden(const std::string& name, const std::string& text) {
  const std::string path = std::string(CUHEAP_TEST_DATA) + "/" + name;
  if (std::getenv("CUHEAP_UPDATE_GOLDEN") != nullptr) WriteBytes(path, text);
  EXPECT_EQ(text, ReadBytes(path));
}

TEST(RenderTest, TextIsAsAgreed) {
  Golden golden;
  ExpectGolden("report.txt", render::Text(golden.Report("step"), {}));
}

TEST(RenderTest, JsonIsAsAgreed) {
  Golden golden;
  ExpectGolden("report.json", render::Dump(render::ToJson(golden.Report("peak")), 1) + "\n");
}

TEST(RenderTest, InfoIsAsAgreed) {
  Golden golden;
  ExpectGolden("info.txt", render::Info(golden.trace));
}

// events.trace was written when events came into the format.
TEST(RenderTest, EventsOfAnOldFileAreGolden) {
  const Result<trace::Trace> trace =
      trace::ReadTrace(std::string(CUHEAP_TEST_DATA) + "/events.trace");
  ASSERT_TRUE(trace.ok()) << trace.error().message;
  trace::TraceFrames frames(*trace);
  std::string text;
  render::EachRecord(*trace, &frames, [&text](const nlohmann::ordered_json& record) {
    if (record.at("record") == "event") text += render::RecordLine(record) + "\n";
  });
  ExpectGolden("events.txt", text);
}

TEST(RenderTest, JsonHasTheFieldsOfItsSchemaAndBeginsWithIt) {
  Golden golden;
  const nlohmann::ordered_json json = render::ToJson(golden.Report("step"));
  EXPECT_TRUE(render::Dump(json, -1).starts_with("{\"schema\":\"cuheap.report/1\""));
  const auto expect = [](const nlohmann::ordered_json& object,
                         const std::vector<std::string>& names) {
    for (const std::string& name : names) EXPECT_TRUE(object.contains(name)) << name;
  };
  expect(json, {"complete", "clock", "steps", "instant", "instants", "devices", "heaps", "sites",
                "fragmentation", "dropped", "notes"});
  expect(json["steps"], {"count", "warmup", "clock"});
  expect(json["instants"][0], {"kind", "step", "time", "device"});
  expect(json["devices"][0],
         {"index", "total", "free", "used", "used_source", "live", "rounding", "holes", "idle",
          "waiting", "untracked", "other_processes", "peak_live"});
  expect(json["sites"][0],
         {"heap", "device", "owner", "tags", "verdict", "confidence", "why", "live_bytes",
          "live_blocks", "peak_bytes", "at_peak_bytes", "total_blocks", "surviving_steps",
          "growth_bytes_per_step", "pinned_bytes", "frames"});
  expect(json["sites"][0]["frames"][0], {"function", "file", "line", "language"});
  expect(json["fragmentation"][0], {"device", "heap", "largest_hole", "hole_bytes", "realized"});
  EXPECT_TRUE(json["devices"][0]["waiting"].is_null());
  EXPECT_TRUE(json["devices"][0]["other_processes"].is_null());
}

TEST(RenderTest, ColourIsOnlyWhereItIsAskedFor) {
  Golden golden;
  EXPECT_EQ(render::Text(golden.Report("step"), {20, false}).find('\033'), std::string::npos);
  EXPECT_NE(render::Text(golden.Report("step"), {20, true}).find('\033'), std::string::npos);
}

TEST(RenderTest, ATopRowLimitKeepsTheSum) {
  Golden golden;
  EXPECT_NE(render::Text(golden.Report("step"), {1, false}).find("more sites"), std::string::npos);
}

TEST(RenderTest, HostileNamesCannotMoveTheCursor) {
  EXPECT_EQ(render::Safe("a\033[2Jb\nc\x7f"), "a?[2Jb?c?");
  TraceMaker maker;
  const SiteId site = maker.Site(Heap::k_driver, {"\033]0;owned\a\xff.py", "f\n", 3});
  maker.Alloc(Heap::k_driver, kBase, kMiB, site);
  maker.Step();
  const trace::Trace trace = maker.Finish();
  trace::TraceFrames frames(trace);
  const analysis::Report report = *analysis::MakeReport(trace, {}, &frames);
  EXPECT_EQ(render::Text(report, {}).find('\033'), std::string::npos);
  const std::string json = render::Dump(render::ToJson(report), -1);
  EXPECT_EQ(json.find('\033'), std::string::npos);
  EXPECT_TRUE(nlohmann::json::accept(json));
}

TEST(PaintTest, ANameIsOneWordForAShell) {
  EXPECT_EQ(render::ShellWord("runs/a-1%.cuheap"), "runs/a-1%.cuheap");
  EXPECT_EQ(render::ShellWord("my run's.cuheap"), "'my run'\\''s.cuheap'");
  EXPECT_EQ(render::ShellWord("-x"), "./-x");
  EXPECT_EQ(render::ShellWord(""), "''");
}

TEST(RenderTest, CatShowsEveryKindOfRecord) {
  Golden golden;
  std::set<std::string> kinds;
  render::EachRecord(golden.trace, &golden.frames, [&](const nlohmann::ordered_json& record) {
    kinds.insert(record["record"].get<std::string>());
    EXPECT_TRUE(render::RecordLine(record).starts_with(record["record"].get<std::string>()));
  });
  EXPECT_EQ(kinds, (std::set<std::string>{"block", "instant", "mark", "site", "thread", "tick"}));
}

}  // namespace
}  // namespace cuheap
