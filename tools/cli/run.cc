#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <memory>

#include "allocator/base/environment.h"
#include "tools/analysis/words.h"
#include "tools/cli/child.h"
#include "tools/cli/fail_on.h"
#include "tools/cli/input.h"
#include "tools/cli/run_folder.h"
#include "tools/cli/run_target.h"
#include "tools/cli/verbs.h"
#include "tools/render/paint.h"
#include "tools/trace/reader.h"

namespace cuheap::cli {
namespace {

namespace fs = std::filesystem;

struct RunFlags {
  std::string out;
  bool force = false;
  std::string stacks;
  std::string mode;
  std::uint64_t limit = 0;
  std::string fail_on;
  int error_exitcode = 23;  // as LeakSanitizer's
  unsigned checkpoint_seconds = 30;
  bool quiet = false;
  std::vector<std::string> command;
};

// libcuheap_preload.so lies beside the program's folder: bin/cuheap, lib/libcuheap_preload.so.
Result<std::string> PreloadLibrary() {
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  const std::string library =
      (program.parent_path().parent_path() / "lib" / "libcuheap_preload.so").string();
  if (!fs::exists(library, error))
    return Error{ErrorKind::kMissing, library + ": not there, so nothing can be watched"};
  if (library.find_first_of(" :") != std::string::npos) {
    return Error{ErrorKind::kUnreadable,
                 library + ": LD_PRELOAD cannot hold a path with a space or a colon"};
  }
  return library;
}

std::string Preloaded(const std::string& library) {
  const char* others = EnvironmentValue("LD_PRELOAD");
  if (others == nullptr || *others == '\0') return library;
  const std::string text = others;
  return text.find(library) != std::string::npos ? text : library + ":" + text;
}

Command CommandFor(const RunFlags& flags, const std::string& library, const RunTarget& target,
                   const RunFolder& folder) {
  Command command{flags.command,
                  {{"LD_PRELOAD", Preloaded(library)},
                   {"CUHEAP_OUT", target.pattern()},
                   {"CUHEAP_RUN_ID", folder.run_id()},
                   {"CUHEAP_SHM", folder.path()}}};
  if (!flags.stacks.empty()) command.environment.emplace_back("CUHEAP_STACKS", flags.stacks);
  if (!flags.mode.empty()) command.environment.emplace_back("CUHEAP_MODE", flags.mode);
  if (flags.limit != 0)
    command.environment.emplace_back("CUHEAP_LIMIT", std::to_string(flags.limit));
  if (flags.quiet) command.environment.emplace_back("CUHEAP_QUIET", "1");
  return command;
}

// Relative where that is shorter: the line is there to be typed.
std::string ShortName(const std::string& path) {
  std::error_code error;
  const std::string relative = fs::relative(path, error).string();
  return error || relative.empty() || relative.size() > path.size() ? path : relative;
}

void SayWhatWasWritten(const std::vector<std::string>& files) {
  if (files.empty()) {
    const char* off = EnvironmentValue("CUHEAP_OFF");
    const bool is_off = off != nullptr && *off != '\0' && std::string_view(off) != "0";
    std::fprintf(stderr, "cuheap: %s, so nothing was recorded\n",
                 is_off ? "CUHEAP_OFF is set" : "no process touched CUDA");
    return;
  }
  constexpr std::size_t kProgramWidth = 100;
  std::string next = "cuheap report";
  for (const std::string& file : files) {
    const std::string name = ShortName(file);
    next += " " + render::ShellWord(name);
    const Result<trace::Trace> header = trace::ReadTraceHeader(file);
    if (!header.ok()) continue;
    std::fprintf(stderr, "cuheap: %s %s (pid %u, %s, %s)\n",
                 header->completeness.running ? "still writing" : "wrote", name.c_str(),
                 header->identity.pid,
                 render::Shortened(render::Safe(header->identity.program), kProgramWidth).c_str(),
                 analysis::SizeText(static_cast<double>(header->file_bytes)).c_str());
  }
  std::fprintf(stderr, "cuheap: next: %s\n", next.c_str());
}

bool AnyMatches(const std::vector<std::string>& files, const FailOn& fail_on) {
  return std::any_of(files.begin(), files.end(), [&](const std::string& file) {
    const Result<trace::Trace> trace = trace::ReadTrace(file);
    if (!trace.ok()) return false;
    trace::TraceFrames frames(*trace);
    const Result<analysis::Report> report = analysis::MakeReport(*trace, {}, &frames);
    return report.ok() && Matches(fail_on, *report);
  });
}

std::vector<std::string> FilesOfRun(std::vector<std::string> homes, const RunTarget& target,
                                    const std::string& run_id) {
  const std::vector<std::string> found = target.FilesOf(run_id);
  homes.insert(homes.end(), found.begin(), found.end());
  std::sort(homes.begin(), homes.end());
  homes.erase(std::unique(homes.begin(), homes.end()), homes.end());
  return homes;
}

int Run(const RunFlags& flags) {
  if (flags.command.empty())
    return Complain({ErrorKind::kAbsent, "run: no command; cuheap run [flags] -- CMD ARGS"});
  const Result<FailOn> fail_on = ParseFailOn(flags.fail_on);
  if (!fail_on.ok()) return Complain(fail_on.error());
  const Result<std::string> library = PreloadLibrary();
  if (!library.ok()) {
    Complain(library.error());
    return kEnvironment;
  }
  RunFolder::CollectLeftovers();
  const RunTarget target = RunTarget::From(flags.out, flags.command[0]);
  const Result<bool> prepared = target.Prepare(flags.force);
  if (!prepared.ok()) {
    Complain(prepared.error());
    return prepared.error().kind == ErrorKind::kAbsent ? kUsage : kEnvironment;
  }
  RunFolder folder = RunFolder::Create();
  std::time_t last_checkpoint = std::time(nullptr);
  const ChildEnd end = RunChild(CommandFor(flags, *library, target, folder), [&] {
    folder.CheckpointAfterOutOfMemory();
    const std::time_t now = std::time(nullptr);
    if (flags.checkpoint_seconds == 0 || now - last_checkpoint < flags.checkpoint_seconds) return;
    last_checkpoint = now;
    folder.CheckpointAll();
  });
  const std::vector<std::string> files = FilesOfRun(folder.Collect(), target, folder.run_id());
  if (!end.started) return end.status;
  if (!flags.quiet) SayWhatWasWritten(files);
  return !fail_on->empty() && AnyMatches(files, *fail_on) ? flags.error_exitcode : end.status;
}

}  // namespace

void AddRun(CLI::App& app, const std::vector<std::string>& command, int* code) {
  auto flags = std::make_shared<RunFlags>();
  CLI::App* verb =
      app.add_subcommand("run", "Watch a program and its children: cuheap run [flags] -- CMD ARGS");
  verb->add_option("-o,--out", flags->out,
                   "where the trace goes; %h host, %p pid, %r rank (APP.%h.%p.cuheap)");
  verb->add_flag("-f,--force", flags->force, "replace an existing file");
  verb->add_option("--stacks", flags->stacks, "auto, none, tag, python, native or all")
      ->check(CLI::IsMember({"auto", "none", "tag", "python", "native", "all"}));
  verb->add_option("--mode", flags->mode,
                   "summary; events: and the latest events; full: and all events, for replay")
      ->check(CLI::IsMember({"summary", "events", "full"}));
  verb->add_option("--limit", flags->limit, "size limit of a trace, as 256M (1M at least)")
      ->transform(CLI::AsSizeValue(false));
  verb->add_option("--fail-on", flags->fail_on,
                   "findings that change the exit code: growing (of high confidence), late");
  verb->add_option("--error-exitcode", flags->error_exitcode, "the exit code then")
      ->capture_default_str()
      ->check(CLI::Range(0, 255));
  verb->add_option("--checkpoint", flags->checkpoint_seconds,
                   "seconds between copies of running traces; 0 = none")
      ->capture_default_str();
  verb->add_flag("-q,--quiet", flags->quiet, "print nothing");
  verb->prefix_command();
  verb->callback([flags, command, verb, code] {
    flags->command = verb->remaining();
    if (!flags->command.empty() && flags->command[0].starts_with('-')) {
      *code = Complain({ErrorKind::kAbsent, "run: no such flag: " + flags->command[0]});
      return;
    }
    flags->command.insert(flags->command.end(), command.begin(), command.end());
    *code = Run(*flags);
  });
}

}  // namespace cuheap::cli
