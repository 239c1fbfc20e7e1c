// The verbs that read traces, as a user types them: exit codes and where output goes.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/tools/shell.h"
#include "tests/tools/trace_maker.h"

namespace cuheap {
namespace {

using format::Heap;

class CliTest : public testing::Test {
 protected:
  Ran Cuheap(const std::string& arguments) {
    return Shell(maker.folder(), std::string(CUHEAP_PROGRAM) + " " + arguments);
  }

  void Leak(std::uint64_t steps) {
    const SiteId leak = maker.Site(Heap::k_driver, {"train.py", "train", 14});
    for (std::uint64_t step = 0; step < steps; ++step) {
      maker.Alloc(Heap::k_driver, (1 + step) << 30, 4u << 20, leak);
      maker.Step();
    }
    maker.ledger().Mark("done");
  }

  TraceMaker maker;
};

TEST_F(CliTest, AReportExitsWithZeroWhateverItFinds) {
  Leak(200);
  maker.Finish();
  const Ran ran = Cuheap("report t.cuheap");
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_TRUE(ran.out.starts_with("1 site grows")) << ran.out;
  EXPECT_NE(ran.out.find("train.py:14 keeps one more 4.0 MiB block each step"), std::string::npos);
  EXPECT_EQ(ran.out.find('\033'), std::string::npos) << "no colour into a file";
  EXPECT_NE(Cuheap("report --color always t.cuheap").out.find('\033'), std::string::npos);
}

TEST_F(CliTest, FailOnFindingsIsExitOne) {
  Leak(200);
  maker.Finish();
  EXPECT_EQ(Cuheap("report --fail-on growing t.cuheap").status, 1);
  EXPECT_EQ(Cuheap("report --fail-on late t.cuheap").status, 0);
  EXPECT_EQ(Cuheap("report --fail-on nonsense t.cuheap").status, 2);
  EXPECT_EQ(Cuheap("report --fail-on stuck t.cuheap").status, 2) << "a verdict that is not given";
}

TEST_F(CliTest, MediumConfidenceNeverFailsARun) {
  Leak(150);
  maker.Finish();
  const Ran ran = Cuheap("report --fail-on growing t.cuheap");
  EXPECT_NE(ran.out.find("growing (medium)"), std::string::npos);
  EXPECT_EQ(ran.status, 0);
}

TEST_F(CliTest, UsageIsExitTwo) {
  Leak(10);
  maker.Finish();
  for (const char* arguments :
       {"", "nonsense", "report", "report --at nonsense t.cuheap", "report --at oom t.cuheap",
        "report --at mark:x t.cuheap", "report --color pink t.cuheap", "run", "run --"}) {
    EXPECT_EQ(Cuheap(arguments).status, 2) << arguments;
  }
  EXPECT_EQ(Cuheap("report --help").status, 0);
  EXPECT_EQ(Cuheap("report --at mark:done t.cuheap").status, 0);
}

TEST_F(CliTest, WhatCannotBeMeantIsNotJudged) {
  Leak(10);
  maker.Finish();
  EXPECT_EQ(Cuheap("report --device 7 --fail-on growing t.cuheap").status, 2);
  EXPECT_EQ(Cuheap("report --warmup -1 t.cuheap").status, 2);
  EXPECT_EQ(Cuheap("report --top -1 t.cuheap").status, 2);
}

TEST_F(CliTest, AFullDiskIsNoSuccess) {
  Leak(10);
  maker.Finish();
  for (const char* verb : {"report", "report --json", "info", "cat"}) {
    const Ran ran = Cuheap(std::string(verb) + " t.cuheap >/dev/full");
    EXPECT_EQ(ran.status, 5) << verb;
    EXPECT_NE(ran.err.find("No space left"), std::string::npos) << ran.err;
  }
}

TEST_F(CliTest, BadInputIsExitThreeAndOneLine) {
  WriteBytes(maker.folder() + "/empty", "");
  WriteBytes(maker.folder() + "/foreign", std::string(5000, 'x'));
  for (const char* file : {"missing", "empty", "foreign", "."}) {
    for (const char* verb : {"report", "info", "cat"}) {
      const Ran ran = Cuheap(std::string(verb) + " " + file);
      EXPECT_EQ(ran.status, 3) << verb << " " << file;
      EXPECT_EQ(std::count(ran.err.begin(), ran.err.end(), '\n'), 1) << ran.err;
      EXPECT_TRUE(ran.out.empty());
    }
  }
}

TEST_F(CliTest, RequireCompleteIsExitFourForAnOpenFile) {
  Leak(10);
  EXPECT_EQ(Cuheap("report --require-complete t.cuheap").status, 4);
  EXPECT_EQ(Cuheap("report t.cuheap").status, 0);
  maker.Finish();
  EXPECT_EQ(Cuheap("report --require-complete t.cuheap").status, 0);
}

TEST_F(CliTest, SeveralFilesAreOneDocumentALine) {
  Leak(40);
  maker.Finish();
  const Ran ran = Cuheap("report --json t.cuheap t.cuheap");
  EXPECT_EQ(std::count(ran.out.begin(), ran.out.end(), '\n'), 2);
  const auto json = nlohmann::json::parse(ran.out.substr(0, ran.out.find('\n')));
  EXPECT_EQ(json["schema"], "cuheap.report/1");
  EXPECT_EQ(Cuheap("report t.cuheap missing").status, 3) << "the good one is still reported";
}

TEST_F(CliTest, OnlyOneDeviceIsShownOnRequest) {
  Leak(40);
  maker.Alloc(Heap::k_driver, 7, 4096, maker.Site(Heap::k_driver, {"b.py", "g", 2}), 0, 1);
  maker.Step();
  maker.Finish();
  const auto json = nlohmann::json::parse(Cuheap("report --json --device 1 t.cuheap").out);
  ASSERT_EQ(json["devices"].size(), 1u);
  EXPECT_EQ(json["devices"][0]["index"], 1);
  for (const auto& site : json["sites"]) EXPECT_EQ(site["device"], 1);
}

TEST_F(CliTest, InfoAndCatShowTheFile) {
  Leak(10);
  maker.Finish();
  EXPECT_NE(Cuheap("info t.cuheap").out.find("complete, closed by the process"), std::string::npos);
  const Ran text = Cuheap("cat t.cuheap");
  EXPECT_NE(text.out.find("block heap=\"driver\""), std::string::npos);
  const Ran json = Cuheap("cat --json t.cuheap");
  EXPECT_TRUE(nlohmann::json::accept(json.out.substr(0, json.out.find('\n'))));
  EXPECT_EQ(json.err, "");
}

TEST_F(CliTest, ThatMemoryRanOutIsSaidWithoutBeingAskedFor) {
  Leak(10);
  EXPECT_EQ(Cuheap("report t.cuheap").out.find("memory ran out"), std::string::npos);
  maker.ledger().OutOfMemory(DeviceId(0), Bytes(5u << 20));
  maker.Finish();
  const Ran ran = Cuheap("report t.cuheap");
  EXPECT_NE(ran.out.find("memory ran out on device 0 in step 11: a request of 5.0 MiB failed "
                         "(cuheap report --at oom t.cuheap)"),
            std::string::npos)
      << ran.out;
}

TEST_F(CliTest, CatSaysWhatIsMissing) {
  Leak(10);
  maker.Finish();
  const std::string file = maker.folder() + "/t.cuheap";
  std::filesystem::resize_file(file, std::filesystem::file_size(file) / 2);
  const Ran ran = Cuheap("cat t.cuheap");
  EXPECT_EQ(ran.status, 0);
  EXPECT_NE(ran.err.find("cuheap: t.cuheap: the file is cut"), std::string::npos) << ran.err;
}

}  // namespace
}  // namespace cuheap
