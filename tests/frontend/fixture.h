// A core of its own in a folder of its own, and what a reader finds in its trace.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "tools/trace/reader.h"

namespace cuheap::testing {

class FolderTest : public ::testing::Test {
 protected:
  FolderTest() {
    char name[] = "/tmp/cuheap-frontend-XXXXXX";
    folder = mkdtemp(name);
  }
  ~FolderTest() override { std::filesystem::remove_all(folder); }

  trace::Trace Read() {
    auto result = trace::ReadTrace(out());
    EXPECT_TRUE(result.ok()) << "no trace at " << out();
    return result.ok() ? *result : trace::Trace();
  }
  std::string out() const { return folder / "a.cuheap"; }

  std::filesystem::path folder;
};

}  // namespace cuheap::testing
