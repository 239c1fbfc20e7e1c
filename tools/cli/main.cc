#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>

#include "tools/cli/verbs.h"

namespace {

// Words behind "--" belong to the command that `run` starts and are never ours to parse.
std::vector<std::string> SplitCommand(int argc, char** argv, int* ours) {
  std::vector<std::string> command;
  *ours = argc;
  for (int i = 1; i < argc; ++i) {
    if (std::string(argv[i]) != "--") continue;
    *ours = i;
    command.assign(argv + i + 1, argv + argc);
    break;
  }
  return command;
}

int Main(int argc, char** argv) {
  using namespace cuheap::cli;
  int ours = argc;
  const std::vector<std::string> command = SplitCommand(argc, argv, &ours);
  int code = kDone;
  CLI::App app("cuheap: who holds the GPU's memory, since when, and is it a leak", "cuheap");
  app.require_subcommand(1);
  AddRun(app, command, &code);
  AddReport(app, &code);
  AddInfo(app, &code);
  AddCat(app, &code);
  AddReplay(app, &code);
  try {
    app.parse(ours, argv);
  } catch (const CLI::ParseError& error) {
    const int status = app.exit(error);
    return status == 0 ? kDone : kUsage;
  }
  if ((std::fflush(stdout) != 0 || std::ferror(stdout) != 0) && errno != EPIPE) {
    std::fprintf(stderr, "cuheap: standard output: %s\n", std::strerror(errno));
    return kEnvironment;
  }
  return code;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return Main(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "cuheap: %s\n", error.what());
    return cuheap::cli::kEnvironment;
  }
}
