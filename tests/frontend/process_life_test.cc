#include "allocator/frontend/process_life.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

namespace cuheap {
namespace {

int StatusOf(pid_t child) {
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(ProcessLifeTest, AProcessIsNoChildOfItself) {
  ProcessLife life;
  EXPECT_FALSE(life.IsForkedChild());
  EXPECT_TRUE(life.Protect());
  EXPECT_FALSE(life.IsForkedChild());
}

TEST(ProcessLifeTest, AForkedChildIsTold) {
  ProcessLife life;
  life.Protect();
  const pid_t child = fork();
  if (child == 0) _exit(life.IsForkedChild() ? 1 : 0);
  EXPECT_EQ(StatusOf(child), 1);
  EXPECT_FALSE(life.IsForkedChild());
}

TEST(ProcessLifeTest, AChildOfARawCloneIsToldToo) {
  ProcessLife life;
  life.Protect();
  const long child = syscall(SYS_clone, SIGCHLD, nullptr, nullptr, nullptr, nullptr);
  if (child == 0) _exit(life.IsForkedChild() ? 1 : 0);
  EXPECT_EQ(StatusOf(static_cast<pid_t>(child)), 1);
}

TEST(ProcessLifeTest, AChildThatWasForkedBeforeIsItsOwnProcess) {
  ProcessLife life;
  const pid_t child = fork();
  if (child == 0) {
    life.Protect();
    _exit(life.IsForkedChild() ? 1 : 0);
  }
  EXPECT_EQ(StatusOf(child), 0);
}

TEST(ProcessLifeTest, LoadedObjectsAreCounted) {
  EXPECT_GT(ProcessLife::CountLoadedObjects().loads, 0u);
}

}  // namespace
}  // namespace cuheap
