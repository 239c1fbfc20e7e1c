// Takes one peer through the workloads and prints a row of JSON for each case. bench/pool.py runs
// it, a process a peer.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <filesystem>

#include "bench/pool/checked_peer.h"
#include "bench/pool/peer_library.h"
#include "bench/pool/workloads.h"

namespace cuheap::bench {
namespace {

struct Workload {
  const char* name;
  void (*run)(const Bench& bench);
};

constexpr Workload kWorkloads[] = {
    {"hit", Hit}, {"steady", Steady}, {"random", RandomAllocations}, {"streams", MultiStream}};

struct Options {
  std::string peer;
  std::string workload;
  std::filesystem::path folder;
  bool quick = false;
  bool check = false;
};

Options Parse(int count, char** words) {
  Options options;
  options.folder =
      std::filesystem::read_symlink("/proc/self/exe").parent_path().parent_path() / "lib/peers";
  CLI::App app("One peer through the workloads of the pool benchmark");
  app.add_option("--peer", options.peer, "its name")->required();
  app.add_option("--workload", options.workload, "hit, steady, random or streams; default all");
  app.add_option("--folder", options.folder, "where the libraries of the peers are");
  app.add_flag("--quick", options.quick, "short and small, for tests");
  app.add_flag("--check", options.check, "compare blocks with each other; times mean nothing");
  try {
    app.parse(count, words);
  } catch (const CLI::ParseError& error) {
    std::exit(app.exit(error));
  }
  return options;
}

Effort QuickEffort() {
  using std::chrono::milliseconds;
  return {.warming = milliseconds(1),
          .measuring = milliseconds(2),
          .sampling = milliseconds(1),
          .live = {16, 256},
          .usual_live = 64,
          .threads = {1, 2},
          .random_allocations = 500};
}

void Print(const Options& options, const std::string& name, const Figures& figures) {
  std::printf(R"({"case": "%s", "peer": "%s", "pairs": %.0f, "cpu": %.1f, "wall": %.1f)",
              name.c_str(), options.peer.c_str(), figures.pairs, figures.cpu_ns, figures.wall_ns);
  if (figures.p99_ns > 0)
    std::printf(R"(, "p50": %.0f, "p99": %.0f)", figures.p50_ns, figures.p99_ns);
  std::printf("}\n");
  std::fflush(stdout);
}

int Run(const Options& options) {
  const MakePeer make = OpenPeer(options.folder, options.peer);
  if (make == nullptr || cudaFree(nullptr) != cudaSuccess) return 1;
  Complaints complaints;
  Bench bench;
  if (options.quick) bench.effort = QuickEffort();
  bench.make_peer = [&]() -> std::unique_ptr<Peer> {
    if (!options.check) return std::unique_ptr<Peer>(make());
    return std::make_unique<CheckedPeer>(make, complaints);
  };
  bench.report = [&](const std::string& name, const Figures& figures) {
    Print(options, name, figures);
  };
  for (const auto& [name, run] : kWorkloads)
    if (options.workload.empty() || options.workload == name) run(bench);
  return complaints.count() == 0 ? 0 : 1;
}

}  // namespace
}  // namespace cuheap::bench

int main(int count, char** words) { return cuheap::bench::Run(cuheap::bench::Parse(count, words)); }
