#include "tools/render/info.h"

#include <algorithm>
#include <memory>

#include "tools/cli/input.h"
#include "tools/cli/verbs.h"
#include "tools/trace/reader.h"

namespace cuheap::cli {

void AddInfo(CLI::App& app, int* code) {
  auto files = std::make_shared<std::vector<std::string>>();
  CLI::App* verb = app.add_subcommand(
      "info", "Say what a trace is: format, completeness, clock, size, options, doors");
  verb->add_option("files", *files, "traces")->required();
  verb->callback([files, code] {
    for (const std::string& file : *files) {
      const Result<trace::Trace> trace = trace::ReadTrace(file);
      if (trace.ok()) {
        Print(render::Info(*trace));
      } else {
        *code = std::max(*code, Complain(trace.error()));
      }
    }
  });
}

}  // namespace cuheap::cli
