// Any bytes through the readers of replay: pickles, CSV, operations, gzip. What is read keeps the
// laws, is written and read again as it was, and can be played.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "tools/replay/engine.h"
#include "tools/replay/ops_text.h"
#include "tools/replay/read.h"

namespace {

void Require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "replay: %s\n", what);
  std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace cuheap;
  const Result<replay::OpStream> stream =
      replay::ReadBytes({reinterpret_cast<const char*>(data), size});
  if (!stream.ok()) return 0;
  const std::string broken = replay::FirstBrokenLaw(*stream);
  Require(broken.empty(), broken.c_str());
  const std::string text = replay::WriteOpsText(*stream);
  const Result<replay::OpStream> again = replay::ReadOpsText(text);
  Require(again.ok() && replay::WriteOpsText(*again) == text, "written is not what was read");
  for (const replay::PolicyKind& policy : replay::Policies()) replay::Play(*stream, policy, 1_GiB);
  return 0;
}
