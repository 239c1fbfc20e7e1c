#include "allocator/base/fork_guard.h"

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

TEST(ForkGuardTest, AProcessIsNoChildOfItself) {
  ForkGuard guard;
  EXPECT_FALSE(guard.InChild());
  guard.Start();
  EXPECT_FALSE(guard.InChild());
}

TEST(ForkGuardTest, AForkedChildIsTold) {
  ForkGuard guard;
  guard.Start();
  const pid_t child = fork();
  if (child == 0) _exit(guard.InChild() ? 1 : 0);
  EXPECT_EQ(StatusOf(child), 1);
  EXPECT_FALSE(guard.InChild());
}

TEST(ForkGuardTest, AChildOfARawCloneIsToldToo) {
  ForkGuard guard;
  guard.Start();
  const long child = syscall(SYS_clone, SIGCHLD, nullptr, nullptr, nullptr, nullptr);
  if (child == 0) _exit(guard.InChild() ? 1 : 0);
  EXPECT_EQ(StatusOf(static_cast<pid_t>(child)), 1);
}

TEST(ForkGuardTest, AChildThatWasForkedBeforeIsItsOwnProcess) {
  ForkGuard guard;
  const pid_t child = fork();
  if (child == 0) {
    guard.Start();
    _exit(guard.InChild() ? 1 : 0);
  }
  EXPECT_EQ(StatusOf(child), 0);
}

TEST(ForkGuardTest, AChildWithAGuardOfItsOwnIsStillTheChildOfTheOthers) {
  ForkGuard guard;
  guard.Start();
  const pid_t child = fork();
  if (child == 0) {
    ForkGuard own;
    own.Start();
    _exit((guard.InChild() ? 1 : 0) + (own.InChild() ? 2 : 0));
  }
  EXPECT_EQ(StatusOf(child), 1);
  EXPECT_FALSE(guard.InChild());
}

}  // namespace
}  // namespace cuheap
