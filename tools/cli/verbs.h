// The verbs of `cuheap`, one file each. A verb registers its flags and, when it is chosen, leaves
// its exit code in `code`.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace cuheap::cli {

enum ExitCode : int {
  kDone = 0,
  kFindings = 1,  // of a kind named by --fail-on
  kUsage = 2,
  kBadInput = 3,     // missing, corrupt, or of a newer major version
  kIncomplete = 4,   // with --require-complete
  kEnvironment = 5,  // this installation or machine cannot do it
};

void AddReport(CLI::App& app, int* code);
void AddInfo(CLI::App& app, int* code);
void AddCat(CLI::App& app, int* code);
void AddReplay(CLI::App& app, int* code);
// `command` is what stood behind "--" on the command line.
void AddRun(CLI::App& app, const std::vector<std::string>& command, int* code);

}  // namespace cuheap::cli
