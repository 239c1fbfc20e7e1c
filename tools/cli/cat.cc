#include <cstdio>
#include <memory>

#include "tools/analysis/notes.h"
#include "tools/cli/input.h"
#include "tools/cli/verbs.h"
#include "tools/render/json.h"
#include "tools/render/records.h"
#include "tools/trace/reader.h"

namespace cuheap::cli {
namespace {

struct CatFlags {
  std::string file;
  bool json = false;
};

int Cat(const CatFlags& flags) {
  const Result<trace::Trace> trace = trace::ReadTrace(flags.file);
  if (!trace.ok()) return Complain(trace.error());
  trace::TraceFrames frames(*trace);
  render::EachRecord(*trace, &frames, [&flags](const nlohmann::ordered_json& record) {
    Print((flags.json ? render::Dump(record, -1) : render::RecordLine(record)) + "\n");
  });
  for (const std::string& sentence : analysis::MissingFrom(*trace))
    std::fprintf(stderr, "cuheap: %s: %s\n", flags.file.c_str(), sentence.c_str());
  return kDone;
}

}  // namespace

void AddCat(CLI::App& app, int* code) {
  auto flags = std::make_shared<CatFlags>();
  CLI::App* verb = app.add_subcommand("cat", "Print every record of a trace as text");
  verb->add_option("file", flags->file, "trace")->required();
  verb->add_flag("--json", flags->json, "one JSON object a line");
  verb->callback([flags, code] { *code = Cat(*flags); });
}

}  // namespace cuheap::cli
