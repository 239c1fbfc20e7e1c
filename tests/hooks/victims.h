// Runs a program on the simulated device, with or without the preload, and reads what it left.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "tools/trace/reader.h"

namespace cuheap::testing {

enum class Watched { kNo, kYes };

struct Outcome {
  int status = -1;  // exit status; 128 + signal
  std::string output;
  std::string errors;
};

class VictimTest : public ::testing::Test {
 protected:
  VictimTest();
  ~VictimTest() override;

  // `command`: a shell command; programs of the build's bin folder are found by their names.
  Outcome Run(const std::string& command, Watched watched = Watched::kYes,
              const std::string& variables = "");
  // Both ways: the program must not notice. Returns the watched outcome.
  Outcome RunBothWays(const std::string& command);

  bool has_trace() const { return std::filesystem::exists(out_); }
  trace::Trace Read() const;
  std::vector<trace::Block> Live() const;
  std::uint64_t LiveBytes(format::Heap heap) const;

  std::filesystem::path folder_;
  std::filesystem::path out_;
};

}  // namespace cuheap::testing
