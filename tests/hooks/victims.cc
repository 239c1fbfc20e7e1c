#include "tests/hooks/victims.h"

#include <sys/wait.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

namespace cuheap::testing {
namespace {

std::string Text(const std::filesystem::path& path) {
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

}  // namespace

VictimTest::VictimTest() {
  char name[] = "/tmp/cuheap-hooks-XXXXXX";
  folder_ = mkdtemp(name);
  out_ = folder_ / "a.cuheap";
}

VictimTest::~VictimTest() { std::filesystem::remove_all(folder_); }

Outcome VictimTest::Run(const std::string& command, Watched watched, const std::string& variables) {
  const std::filesystem::path script = folder_ / "run.sh";
  std::ofstream(script) << command << "\n";
  std::string line = "cd " + folder_.string() +
                     " && env -u LD_PRELOAD PATH=" CUHEAP_BIN
                     ":$PATH LD_LIBRARY_PATH=" CUHEAP_SIM_LIB " CUHEAP_SIM_MEMORY=1G ";
  if (watched == Watched::kYes)
    line += "CUHEAP_OUT=" + out_.string() + " CUHEAP_SHM=" + (folder_ / "shm").string() +
            " LD_PRELOAD=" CUHEAP_PRELOAD " ";
  line += variables + " sh " + script.string() + " >output 2>errors";
  const int status = std::system(line.c_str());
  return {.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status),
          .output = Text(folder_ / "output"),
          .errors = Text(folder_ / "errors")};
}

Outcome VictimTest::RunBothWays(const std::string& command) {
  const Outcome alone = Run(command, Watched::kNo);
  Outcome watched = Run(command, Watched::kYes);
  EXPECT_EQ(watched.status, alone.status) << watched.errors;
  EXPECT_EQ(watched.output, alone.output);
  EXPECT_EQ(watched.errors, alone.errors);
  return watched;
}

trace::Trace VictimTest::Read() const {
  auto result = trace::ReadTrace(out_);
  EXPECT_TRUE(result.ok()) << "no trace at " << out_;
  return result.ok() ? *result : trace::Trace();
}

std::vector<trace::Block> VictimTest::Live() const {
  std::vector<trace::Block> live;
  for (const trace::Block& block : Read().blocks)
    if (block.free_time == 0) live.push_back(block);
  return live;
}

std::uint64_t VictimTest::LiveBytes(format::Heap heap) const {
  std::uint64_t bytes = 0;
  for (const trace::Block& block : Live())
    if (block.heap == heap) bytes += block.block_bytes;
  return bytes;
}

}  // namespace cuheap::testing
