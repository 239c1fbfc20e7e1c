#include "allocator/frontend/config.h"

#include <gtest/gtest.h>

#include <initializer_list>
#include <string>
#include <vector>

namespace cuheap {
namespace {

Config Read(std::initializer_list<const char*> variables) {
  std::vector<const char*> environment(variables);
  environment.push_back(nullptr);
  Config config;
  ReadConfig(environment.data(), &config);
  return config;
}

TEST(ConfigTest, AnEmptyEnvironmentGivesTheDefaults) {
  const Config config = Read({});
  EXPECT_STREQ(config.out, "");
  EXPECT_EQ(config.stacks, format::StackMode::kAuto);
  EXPECT_EQ(config.limit, 256_MiB);
  EXPECT_FALSE(config.off);
  EXPECT_EQ(config.rank, -1);
  EXPECT_STREQ(config.changed, "");
  EXPECT_STREQ(config.complaint, "");
}

TEST(ConfigTest, AProcessWithoutAnEnvironmentIsFine) {
  Config config;
  ReadConfig(nullptr, &config);
  EXPECT_EQ(config.limit, 256_MiB);
}

TEST(ConfigTest, KnobsAreReadByTheirNames) {
  const Config config =
      Read({"CUHEAP_OUT=/a/%p.cuheap", "CUHEAP_STACKS=all", "CUHEAP_LIMIT=64M", "CUHEAP_MODE=full",
            "CUHEAP_REDACT=args", "CUHEAP_QUIET=1", "CUHEAP_OFF=yes", "CUHEAP_RUN_ID=abc"});
  EXPECT_STREQ(config.out, "/a/%p.cuheap");
  EXPECT_EQ(config.stacks, format::StackMode::kAll);
  EXPECT_EQ(config.limit, 64_MiB);
  EXPECT_EQ(config.mode, format::Mode::kFull);
  EXPECT_EQ(config.redact, Redact::kArgs);
  EXPECT_TRUE(config.quiet);
  EXPECT_TRUE(config.off);
  EXPECT_STREQ(config.run_id, "abc");
  EXPECT_STREQ(config.complaint, "");
  EXPECT_STREQ(
      config.changed,
      "out=/a/%p.cuheap stacks=all limit=64M mode=full redact=args quiet=1 off=yes run_id=abc");
}

TEST(ConfigTest, AnUnknownNameIsComplainedAboutAndNotIgnored) {
  EXPECT_NE(std::string(Read({"CUHEAP_LIMITS=1G"}).complaint).find("CUHEAP_LIMITS"),
            std::string::npos);
}

TEST(ConfigTest, TheFirstComplaintStays) {
  EXPECT_NE(std::string(Read({"CUHEAP_A=1", "CUHEAP_B=1"}).complaint).find("CUHEAP_A "),
            std::string::npos);
}

TEST(ConfigTest, NamesOfOthersAreNotComplainedAbout) {
  EXPECT_STREQ(
      Read({"CUHEAP_SIM_MEMORY=4G", "CUHEAP_BUILD=/b", "CUDA_VISIBLE_DEVICES=0", "nonsense"})
          .complaint,
      "");
}

TEST(ConfigTest, AValueThatIsNotUnderstoodLeavesTheDefaultAndIsComplainedAbout) {
  for (const char* variable :
       {"CUHEAP_LIMIT=", "CUHEAP_LIMIT=-1", "CUHEAP_LIMIT=1X", "CUHEAP_LIMIT=1MB",
        "CUHEAP_LIMIT=1K", "CUHEAP_LIMIT=99999999999999999999G",
        "CUHEAP_LIMIT=18446744073709551615T", "CUHEAP_STACKS=some", "CUHEAP_QUIET=maybe"}) {
    const Config config = Read({variable});
    EXPECT_NE(config.complaint[0], 0) << variable;
    EXPECT_EQ(config.limit, 256_MiB) << variable;
    EXPECT_EQ(config.stacks, format::StackMode::kAuto) << variable;
    EXPECT_FALSE(config.quiet) << variable;
    EXPECT_STREQ(config.changed, "") << variable;
  }
}

TEST(ConfigTest, TextThatIsTooLongIsRefusedWhole) {
  const std::string variable = "CUHEAP_RUN_ID=" + std::string(32, 'x');
  const Config config = Read({variable.c_str()});
  EXPECT_STREQ(config.run_id, "");
  EXPECT_NE(config.complaint[0], 0);
}

TEST(ConfigTest, TheStrongestLauncherSaysTheRankWhateverTheOrder) {
  EXPECT_EQ(Read({"SLURM_PROCID=7", "RANK=3", "OMPI_COMM_WORLD_RANK=5"}).rank, 3);
  EXPECT_EQ(Read({"SLURM_PROCID=7", "SLURM_NTASKS=8"}).rank, 7);
  EXPECT_EQ(Read({"SLURM_PROCID=7", "SLURM_NTASKS=8"}).world_size, 8);
  EXPECT_EQ(Read({"RANK=x", "SLURM_PROCID=7"}).rank, 7);
}

TEST(ConfigTest, TorchWithoutItsCacheIsSeen) {
  EXPECT_FALSE(Read({}).torch_caching_off);
  EXPECT_TRUE(Read({"PYTORCH_NO_CUDA_MEMORY_CACHING=1"}).torch_caching_off);
}

TEST(ConfigTest, ChangesThatDoNotFitAreLeftOutWhole) {
  const std::string variable = "CUHEAP_OUT=/" + std::string(400, 'x');
  const Config config = Read({"CUHEAP_QUIET=1", variable.c_str(), "CUHEAP_LIMIT=1M"});
  EXPECT_STREQ(config.changed, "quiet=1 limit=1M");
}

}  // namespace
}  // namespace cuheap
