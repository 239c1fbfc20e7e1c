#include "tools/cli/child.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>

namespace cuheap::cli {
namespace {

constexpr int kForwarded[] = {SIGINT,  SIGTERM,  SIGHUP,  SIGQUIT, SIGUSR1,
                              SIGUSR2, SIGWINCH, SIGCONT, SIGTSTP};

sigset_t WatchedSignals() {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : kForwarded) sigaddset(&set, signal);
  sigaddset(&set, SIGCHLD);
  return set;
}

[[noreturn]] void BecomeCommand(const Command& command, const sigset_t& mask, int report) {
  for (const auto& [name, value] : command.environment) setenv(name.c_str(), value.c_str(), 1);
  std::vector<char*> words;
  for (const std::string& word : command.words) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  sigprocmask(SIG_SETMASK, &mask, nullptr);
  execvp(words[0], words.data());
  const int reason = errno;
  [[maybe_unused]] const ssize_t written = write(report, &reason, sizeof(reason));
  _exit(127);
}

// The errno of a failed exec; 0 once the command runs (exec closed the pipe).
int ReasonFrom(int pipe_end) {
  int reason = 0;
  ssize_t got = 0;
  do {
    got = read(pipe_end, &reason, sizeof(reason));
  } while (got < 0 && errno == EINTR);
  return got == static_cast<ssize_t>(sizeof(reason)) ? reason : 0;
}

// Whether the child ended; a stopped child stops us too, as the shell that waits for us expects.
bool Ended(pid_t child, int* status) {
  for (;;) {
    int state = 0;
    const pid_t got = waitpid(child, &state, WNOHANG | WUNTRACED);
    if (got < 0 && errno == ECHILD) {
      *status = 126;  // somebody else took its status
      return true;
    }
    if (got != child) return false;
    if (WIFSTOPPED(state)) {
      raise(SIGSTOP);
      continue;
    }
    *status = WIFSIGNALED(state) ? 128 + WTERMSIG(state) : WEXITSTATUS(state);
    return true;
  }
}

int Wait(pid_t child, const sigset_t& watched, const std::function<void()>& tick) {
  int status = 0;
  std::time_t last_tick = std::time(nullptr);
  while (!Ended(child, &status)) {
    const timespec second = {1, 0};
    siginfo_t info = {};
    const int signal = sigtimedwait(&watched, &info, &second);
    if (signal > 0 && signal != SIGCHLD && info.si_code <= 0) kill(child, signal);
    if (const std::time_t now = std::time(nullptr); now != last_tick) {
      last_tick = now;
      tick();
    }
  }
  return status;
}

}  // namespace

ChildEnd RunChild(const Command& command, const std::function<void()>& tick) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) {
    std::perror("cuheap run: pipe");
    return {false, 126};
  }
  // Who starts us may have told the system to forget ended children; the command gets that back.
  struct sigaction as_default = {};
  struct sigaction inherited = {};
  as_default.sa_handler = SIG_DFL;
  sigaction(SIGCHLD, &as_default, &inherited);
  const sigset_t watched = WatchedSignals();
  sigset_t mask;
  sigprocmask(SIG_BLOCK, &watched, &mask);
  const pid_t child = fork();
  if (child == 0) {
    sigaction(SIGCHLD, &inherited, nullptr);
    BecomeCommand(command, mask, ends[1]);
  }
  const int reason = child < 0 ? errno : (close(ends[1]), ReasonFrom(ends[0]));
  close(ends[0]);
  if (child < 0) close(ends[1]);
  ChildEnd end;
  if (reason == 0) {
    end = {true, Wait(child, watched, tick)};
  } else {
    if (child > 0) waitpid(child, nullptr, 0);
    std::fprintf(stderr, "cuheap run: %s: %s\n", command.words[0].c_str(), std::strerror(reason));
    end = {false, reason == ENOENT ? 127 : 126};
  }
  sigprocmask(SIG_SETMASK, &mask, nullptr);
  sigaction(SIGCHLD, &inherited, nullptr);
  return end;
}

}  // namespace cuheap::cli
