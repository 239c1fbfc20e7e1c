#include <algorithm>
#include <map>
#include <memory>

#include "tools/cli/fail_on.h"
#include "tools/cli/input.h"
#include "tools/cli/verbs.h"
#include "tools/render/json.h"
#include "tools/render/text.h"
#include "tools/trace/reader.h"

namespace cuheap::cli {
namespace {

struct ReportFlags {
  std::vector<std::string> files;
  bool json = false;
  std::string at = "step";
  std::size_t top = 20;
  std::uint64_t warmup = 0;
  std::uint32_t device = 0;
  Color color = Color::kAuto;
  std::string fail_on;
  bool require_complete = false;
  bool has_warmup = false;
  bool has_device = false;
};

struct Outcome {
  bool findings = false;
  bool incomplete = false;
};

Result<Outcome> ReportOn(const std::string& file, const ReportFlags& flags,
                         const analysis::ReportOptions& options, const FailOn& fail_on) {
  const Result<trace::Trace> trace = trace::ReadTrace(file);
  if (!trace.ok()) return trace.error();
  trace::TraceFrames frames(*trace);
  const Result<analysis::Report> report = analysis::MakeReport(*trace, options, &frames);
  if (!report.ok()) return Error{report.error().kind, file + ": " + report.error().message};
  if (flags.has_device && flags.device >= trace->devices.size())
    return Error{ErrorKind::kAbsent, file + ": has no device " + std::to_string(flags.device)};
  if (flags.has_device && !trace->devices[flags.device].seen())
    return Error{ErrorKind::kAbsent,
                 file + ": has nothing of device " + std::to_string(flags.device)};
  if (flags.json) {
    Print(render::Dump(render::ToJson(*report), flags.files.size() == 1 ? 1 : -1) + "\n");
  } else {
    Print(render::Text(*report, {flags.top, UseColor(flags.color)}));
  }
  return Outcome{Matches(fail_on, *report), !report->complete};
}

int Report(const ReportFlags& flags) {
  const Result<analysis::At> at = analysis::At::Parse(flags.at);
  if (!at.ok()) return Complain(at.error());
  const Result<FailOn> fail_on = ParseFailOn(flags.fail_on);
  if (!fail_on.ok()) return Complain(fail_on.error());
  analysis::ReportOptions options;
  options.at = *at;
  if (flags.has_warmup) options.warmup = flags.warmup;
  if (flags.has_device) options.device = flags.device;
  int failed = kDone;
  Outcome all;
  for (const std::string& file : flags.files) {
    if (!flags.json && &file != &flags.files.front()) Print("\n");
    const Result<Outcome> outcome = ReportOn(file, flags, options, *fail_on);
    if (!outcome.ok()) {
      failed = std::max(failed, Complain(outcome.error()));
      continue;
    }
    all.findings = all.findings || outcome->findings;
    all.incomplete = all.incomplete || outcome->incomplete;
  }
  if (failed != kDone) return failed;
  if (all.findings) return kFindings;
  return all.incomplete && flags.require_complete ? kIncomplete : kDone;
}

}  // namespace

void AddReport(CLI::App& app, int* code) {
  auto flags = std::make_shared<ReportFlags>();
  CLI::App* verb =
      app.add_subcommand("report", "Say who holds memory, what grows, and what is fragmented");
  verb->add_option("files", flags->files, "traces")->required();
  verb->add_flag("--json", flags->json,
                 "JSON, schema cuheap.report/1; one document a line for several files");
  verb->add_option("--at", flags->at, "step (last step end), peak, oom, end, mark:NAME or step:N")
      ->capture_default_str();
  verb->add_option("--top", flags->top, "rows of a table")
      ->capture_default_str()
      ->check(CLI::NonNegativeNumber);
  CLI::Option* warmup =
      verb->add_option("--warmup", flags->warmup, "steps of warm-up (default: the first third)")
          ->check(CLI::NonNegativeNumber);
  CLI::Option* device =
      verb->add_option("--device", flags->device, "only this device")->check(CLI::Range(0, 15));
  const std::map<std::string, Color> colors = {
      {"auto", Color::kAuto}, {"always", Color::kAlways}, {"never", Color::kNever}};
  verb->add_option("--color", flags->color, "auto, always or never")
      ->transform(CLI::CheckedTransformer(colors));
  verb->add_option("--fail-on", flags->fail_on,
                   "exit 1 on these findings: growing (of high confidence), late");
  verb->add_flag("--require-complete", flags->require_complete,
                 "exit 4 if something is missing from a file");
  verb->callback([flags, warmup, device, code] {
    flags->has_warmup = warmup->count() > 0;
    flags->has_device = device->count() > 0;
    *code = Report(*flags);
  });
}

}  // namespace cuheap::cli
