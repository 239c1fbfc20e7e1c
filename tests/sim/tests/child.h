// A process of its own for a test of what is settled once a process. The test's own process must
// not have called the driver.
#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>

// Ends the child's body with an exit code that no CUresult of a test uses.
#define CHILD_NEEDS(condition)                                                   \
  do {                                                                           \
    if (!(condition)) {                                                          \
      std::fprintf(stderr, "line %d: %s does not hold\n", __LINE__, #condition); \
      return 255;                                                                \
    }                                                                            \
  } while (false)

namespace cuheap::sim {

// The exit code that `body` returned in a forked child; -1: it died otherwise.
template <class Body>
int ExitOf(Body body) {
  const pid_t child = fork();
  if (child == 0) _exit(body());
  int status = -1;
  EXPECT_EQ(child, waitpid(child, &status, 0));
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

}  // namespace cuheap::sim
