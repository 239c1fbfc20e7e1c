// `cuheap run` with a stand-in for the observer: status, signals, and traces that survive whoever
// dies.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <thread>

#include "tests/tools/shell.h"
#include "tests/tools/trace_maker.h"
#include "tools/trace/reader.h"

namespace cuheap {
namespace {

namespace fs = std::filesystem;

class RunTest : public testing::Test {
 protected:
  RunTest() {
    // The program looks for its library beside itself, so both are laid out as an installation is.
    fs::create_directories(folder.path() + "/bin");
    fs::create_directories(folder.path() + "/lib");
    fs::copy_file(CUHEAP_PROGRAM, folder.path() + "/bin/cuheap");
    fs::copy_file(CUHEAP_PRELOAD, folder.path() + "/lib/libcuheap_preload.so");
  }

  Ran Run(const std::string& arguments, const std::string& environment = "") {
    return Shell(folder.path(), environment + " ./bin/cuheap run " + arguments);
  }
  std::string At(const std::string& name) const { return folder.path() + "/" + name; }

  // Waits until `name` is there, as a link to a running trace or as a file.
  bool Appears(const std::string& name) const {
    for (int i = 0; i < 1000; ++i) {
      if (fs::exists(fs::symlink_status(At(name)))) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return false;
  }

  TemporaryFolder folder;
};

trace::Trace Read(const std::string& path) {
  Result<trace::Trace> trace = trace::ReadTrace(path);
  if (trace.ok()) return std::move(*trace);
  ADD_FAILURE() << trace.error().message;
  return {};
}

TEST_F(RunTest, TheStatusOfTheCommandPassesThrough) {
  EXPECT_EQ(Run("-- true").status, 0);
  EXPECT_EQ(Run("-- sh -c 'exit 7'").status, 7);
  EXPECT_EQ(Run("-- sh -c 'kill -TERM $$'").status, 143);
}

TEST_F(RunTest, ACommandThatCannotStartIsSaidAsAShellWould) {
  const Ran missing = Run("-- /no/such/program");
  EXPECT_EQ(missing.status, 127);
  EXPECT_EQ(missing.err, "cuheap run: /no/such/program: No such file or directory\n");
  WriteBytes(At("plain"), "text");
  EXPECT_EQ(Run("-- ./plain").status, 126);
}

TEST_F(RunTest, AProcessWithoutCudaLeavesNothing) {
  const Ran ran = Run("-o a.cuheap -- true");
  EXPECT_NE(ran.err.find("no process touched CUDA"), std::string::npos);
  EXPECT_FALSE(fs::exists(At("a.cuheap")));
  EXPECT_EQ(Run("-q -o a.cuheap -- true").err, "");
}

TEST_F(RunTest, ARunEndsWithWhatWasWrittenAndTheNextCommand) {
  const Ran ran = Run("-o sub/a.cuheap -- true", "TEST_RECORD=1");
  EXPECT_NE(ran.err.find("cuheap: wrote sub/a.cuheap (pid "), std::string::npos) << ran.err;
  EXPECT_NE(ran.err.find("cuheap: next: cuheap report sub/a.cuheap\n"), std::string::npos)
      << ran.err;
  const trace::Trace trace = Read(At("sub/a.cuheap"));
  EXPECT_TRUE(trace.completeness.clean_close);
  EXPECT_FALSE(fs::is_symlink(At("sub/a.cuheap")));
}

TEST_F(RunTest, AnExistingTargetIsRefusedUnlessForced) {
  WriteBytes(At("a.cuheap"), "precious");
  const Ran refused = Run("-o a.cuheap -- true", "TEST_RECORD=1");
  EXPECT_EQ(refused.status, 2);
  EXPECT_EQ(ReadBytes(At("a.cuheap")), "precious");
  EXPECT_EQ(Run("-f -o a.cuheap -- true", "TEST_RECORD=1").status, 0);
  EXPECT_TRUE(Read(At("a.cuheap")).completeness.clean_close);
}

TEST_F(RunTest, OnlyAFileIsEverReplaced) {
  ASSERT_EQ(mkfifo(At("pipe").c_str(), 0600), 0);
  EXPECT_EQ(Run("-f -o pipe -- true", "TEST_RECORD=1").status, 2);
  EXPECT_TRUE(fs::is_fifo(At("pipe")));
}

TEST_F(RunTest, APlaceholderInAFoldersNameIsFound) {
  const Ran ran = Run("-o 'job-%p/x/a.cuheap' -- true", "TEST_RECORD=1");
  EXPECT_NE(ran.err.find("/x/a.cuheap (pid "), std::string::npos) << ran.err;
}

TEST_F(RunTest, ATraceThatCannotGoHomeIsNamedWhereItIs) {
  const Ran ran = Run("-o /proc/a.cuheap -- sh -c 'kill -KILL $$'", "TEST_RECORD=1");
  EXPECT_NE(ran.err.find("next: cuheap report /dev/shm/"), std::string::npos) << ran.err;
  const std::size_t at = ran.err.find("/dev/shm/");
  fs::remove(ran.err.substr(at, ran.err.find_first_of(": \n", at) - at));
}

TEST_F(RunTest, WrongFlagsAndPlacesAreUsage) {
  EXPECT_EQ(Run("--quite -- true").status, 2);
  EXPECT_EQ(Run("-o " + std::string(950, 'x') + " -- true").status, 2);
  const std::string gone = "mkdir gone && cd gone && rmdir ../gone && ../bin/cuheap run ";
  EXPECT_EQ(Shell(folder.path(), gone + "-o a.cuheap -- true").status, 2);
  EXPECT_EQ(Shell(folder.path(), gone + "-o " + At("a.cuheap") + " -- sh -c 'exit 4'").status, 4);
}

// Who ignores SIGCHLD hands that down, and the system then forgets how children ended.
TEST_F(RunTest, AnIgnoredChildSignalIsNoReasonToWaitForEver) {
  const Ran ran = Shell(
      folder.path(), "(trap '' CHLD; exec timeout -k 1 20 ./bin/cuheap run -q -- sh -c 'exit 6')");
  EXPECT_EQ(ran.status, 6);
}

TEST_F(RunTest, ChildrenHaveFilesOfTheirOwn) {
  const Ran ran = Run("-o 'a-%p.cuheap' -- sh -c 'sh -c true; sh -c true; true'", "TEST_RECORD=1");
  std::size_t files = 0;
  for (const auto& entry : fs::directory_iterator(folder.path())) {
    if (entry.path().extension() == ".cuheap") files += Read(entry.path().string()).blocks.size();
  }
  EXPECT_EQ(files, 3u) << ran.err;
  const Ran same = Run("-o b.cuheap -- sh -c 'sh -c true; true'", "TEST_RECORD=1");
  EXPECT_TRUE(fs::exists(At("b.cuheap")));
  EXPECT_NE(same.err.find("wrote b."), same.err.rfind("wrote b.")) << "two files: " << same.err;
}

TEST_F(RunTest, TheTraceOfAKilledProcessIsBroughtHome) {
  const Ran ran = Run("-o a.cuheap -- sh -c 'kill -KILL $$'", "TEST_RECORD=1");
  EXPECT_EQ(ran.status, 137);
  EXPECT_FALSE(fs::is_symlink(At("a.cuheap")));
  const trace::Trace trace = Read(At("a.cuheap"));
  EXPECT_FALSE(trace.completeness.clean_close);
  EXPECT_FALSE(trace.completeness.running);
  EXPECT_EQ(trace.blocks.size(), 1u);
  EXPECT_FALSE(
      fs::exists("/dev/shm/cuheap-" + std::to_string(getuid()) + "/" + trace.identity.run_id));
}

TEST_F(RunTest, ARunningTraceIsCheckpointedAndTheCheckpointGoesAtTheEnd) {
  Ran ran;
  std::thread runner([&] { ran = Run("--checkpoint 1 -o a.cuheap -- sleep 4", "TEST_RECORD=1"); });
  EXPECT_TRUE(Appears("a.cuheap.checkpoint"));
  const trace::Trace trace = Read(At("a.cuheap.checkpoint"));
  EXPECT_EQ(trace.blocks.size(), 1u);
  EXPECT_FALSE(trace.completeness.cut);
  runner.join();
  EXPECT_EQ(ran.status, 0);
  EXPECT_FALSE(fs::exists(At("a.cuheap.checkpoint")));
  EXPECT_TRUE(Read(At("a.cuheap")).completeness.clean_close);
}

TEST_F(RunTest, RunningOutOfMemoryIsACheckpoint) {
  std::thread runner([&] { Run("--checkpoint 0 -o a.cuheap -- sleep 4", "TEST_RECORD=oom"); });
  EXPECT_TRUE(Appears("a.cuheap.checkpoint"));
  runner.join();
}

TEST_F(RunTest, SignalsReachTheCommand) {
  Ran ran;
  std::thread runner([&] {
    ran =
        Run("-o a.cuheap -- sh -c 'trap \"echo got it; exit 9\" USR1; while :; do sleep 0.05; "
            "done' & echo $! >pid; wait $!",
            "TEST_RECORD=1");
  });
  ASSERT_TRUE(Appears("a.cuheap"));
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  kill(std::stoi(ReadBytes(At("pid"))), SIGUSR1);
  runner.join();
  EXPECT_EQ(ran.status, 9);
  EXPECT_EQ(ran.out, "got it\n");
}

TEST_F(RunTest, WhatAKilledRunLeftIsCollectedByTheNext) {
  Shell(folder.path(),
        "TEST_RECORD=1 ./bin/cuheap run -o a.cuheap -- sh -c 'echo $$ >child; sleep 60' & echo $! "
        ">pid");
  ASSERT_TRUE(Appears("a.cuheap"));
  ASSERT_TRUE(Appears("child"));
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  kill(std::stoi(ReadBytes(At("pid"))), SIGKILL);
  kill(std::stoi(ReadBytes(At("child"))), SIGKILL);
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  EXPECT_TRUE(fs::is_symlink(At("a.cuheap")));
  EXPECT_EQ(Read(At("a.cuheap")).blocks.size(), 1u) << "readable in place";
  Run("-o b.cuheap -- true");
  EXPECT_FALSE(fs::is_symlink(At("a.cuheap")));
  EXPECT_EQ(Read(At("a.cuheap")).blocks.size(), 1u);
}

TEST_F(RunTest, OtherPreloadsAreKeptAndRunItselfIsNotWatched) {
  const Ran ran = Run("-q -- sh -c 'echo $LD_PRELOAD'", "LD_PRELOAD=libm.so.6");
  EXPECT_TRUE(ran.out.ends_with("/lib/libcuheap_preload.so:libm.so.6\n")) << ran.out;
}

TEST_F(RunTest, WithoutItsLibraryItSaysSo) {
  fs::remove(At("lib/libcuheap_preload.so"));
  EXPECT_EQ(Run("-- true").status, 5);
}

TEST_F(RunTest, FindingsChangeTheStatusOnlyOnRequest) {
  // One block of a run without steps is no finding.
  EXPECT_EQ(Run("--fail-on growing -o a.cuheap -- sh -c 'exit 3'", "TEST_RECORD=1").status, 3);
  EXPECT_EQ(Run("--fail-on nonsense -- true").status, 2);
}

}  // namespace
}  // namespace cuheap
