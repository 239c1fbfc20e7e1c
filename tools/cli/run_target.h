// Where `run` wants the traces of its processes: a template with %h (host), %p (pid), %r (rank) and
// %% (%), and which of the files there belong to a run.
#pragma once

#include <string>
#include <vector>

#include "tools/trace/result.h"

namespace cuheap::cli {

class RunTarget {
 public:
  // `out` is what the user gave; empty: APP.HOST.PID.cuheap in the present folder, APP being the
  // command's name.
  static RunTarget From(const std::string& out, const std::string& command);

  const std::string& pattern() const { return pattern_; }

  // Makes room: creates parent folders; an existing file is an error unless `force`, which removes
  // it. A pattern with %p or %r names no single file and is not checked.
  Result<bool> Prepare(bool force) const;

  // Traces of the run that lie at the target.
  std::vector<std::string> FilesOf(const std::string& run_id) const;

 private:
  std::string pattern_;  // absolute; a percent sign of the present folder's name is doubled
};

}  // namespace cuheap::cli
