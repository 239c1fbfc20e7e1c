// The folder in shared memory where the processes of one run keep their traces while they live:
//   /dev/shm/cuheap-UID/RUN, mode 0700, RUN = PID-START-RANDOM of the `cuheap run` that made it,
//   which is the run id too.
//
// Laws
//   1. Only files of dead processes are moved or removed; a living one brings its file home itself.
//   2. A folder whose `run` is alive is left to it.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "tools/trace/result.h"

namespace cuheap::cli {

class RunFolder {
 public:
  // Creates the folder. Where shared memory is missing or not ours, path() is empty and traces are
  // mapped in place.
  static RunFolder Create();

  const std::string& path() const { return path_; }
  const std::string& run_id() const { return run_id_; }

  // Copies the traces of living processes beside their destinations.
  void CheckpointAll();
  // The same for those that ran out of memory since the last call.
  void CheckpointAfterOutOfMemory();

  // Brings the traces of dead processes home and removes what is left empty. Returns where they are
  // now.
  std::vector<std::string> Collect();

  // Does the same for runs that ended without doing so (killed, machine trouble).
  static std::vector<std::string> CollectLeftovers();

 private:
  void Checkpoint(const std::string& file);

  std::string path_;
  std::string run_id_;
  std::set<std::string> checkpoints_;
  std::map<std::string, std::uint64_t> out_of_memory_;  // file -> time of the last one seen
};

}  // namespace cuheap::cli
