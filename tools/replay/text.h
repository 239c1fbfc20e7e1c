// What a replay found, as text: a head about the stream, a table with a row for each policy, and
// the driver's calls by kind with what they would take. Figures that rest on assumptions are
// marked.
#pragma once

#include <string>
#include <vector>

#include "tools/replay/engine.h"

namespace cuheap::replay {

struct Finding {
  const PolicyKind* policy = nullptr;
  Outcome outcome;
  Smallest smallest;
};

struct Replay {
  std::string name;  // of the trace
  OpFigures figures;
  std::vector<std::string> notes;
  Bytes capacity{};
  std::vector<Finding> findings;
};

std::string Text(const Replay& replay);

}  // namespace cuheap::replay
