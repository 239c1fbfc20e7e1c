#include "tools/cli/input.h"
#include "tools/cli/verbs.h"
#include "tools/replay/ops_text.h"
#include "tools/replay/packed_text.h"
#include "tools/replay/read.h"
#include "tools/replay/text.h"

namespace cuheap::cli {
namespace {

struct ReplayFlags {
  std::string file;
  std::vector<std::string> policies;
  std::uint64_t capacity = 0;
  std::uint64_t scale = 1;
  std::string heap;
  std::string write_ops;
};

std::string PolicyNames() {
  std::string names;
  for (const replay::PolicyKind& policy : replay::Policies())
    names += std::string(policy.name) + ", ";
  return names + "or all";
}

Result<std::vector<const replay::PolicyKind*>> Chosen(const std::vector<std::string>& names) {
  std::vector<const replay::PolicyKind*> chosen;
  for (const std::string& name : names) {
    const replay::PolicyKind* found = replay::FindPolicy(name);
    if (found == nullptr && name != "all")
      return Error{ErrorKind::kAbsent, "--policy " + name + ": there is " + PolicyNames()};
    for (const replay::PolicyKind& policy : replay::Policies())
      if (&policy == found || name == "all") chosen.push_back(&policy);
  }
  return chosen;
}

Result<bool> Enlarge(replay::OpStream* stream, std::uint64_t scale) {
  for (replay::Op& op : stream->ops) {
    if (op.bytes.count() > replay::OpStream::kMostBytes.count() / scale)
      return Error{ErrorKind::kAbsent, "--scale: a block would be larger than 256 GiB"};
    op.bytes = Bytes(op.bytes.count() * scale);
  }
  if (scale > 1) stream->notes.push_back("sizes are " + std::to_string(scale) + "-fold");
  return true;
}

int WriteOps(const replay::OpStream& stream, const std::string& path) {
  const std::string packed = replay::Packed(replay::WriteOpsText(stream));
  std::FILE* file = std::fopen(path.c_str(), "wb");
  const bool written =
      file != nullptr && std::fwrite(packed.data(), 1, packed.size(), file) == packed.size();
  const bool closed = file != nullptr && std::fclose(file) == 0;
  if (written && closed) return kDone;
  std::fprintf(stderr, "cuheap: %s: cannot be written\n", path.c_str());
  return kEnvironment;
}

int Replay(const ReplayFlags& flags) {
  const Result<std::vector<const replay::PolicyKind*>> policies = Chosen(flags.policies);
  if (!policies.ok()) return Complain(policies.error());
  Result<replay::OpStream> stream = replay::ReadFile(flags.file, flags.heap);
  if (!stream.ok()) return Complain(stream.error());
  const Result<bool> enlarged = Enlarge(&*stream, flags.scale);
  if (!enlarged.ok()) return Complain(enlarged.error());
  if (!flags.write_ops.empty()) return WriteOps(*stream, flags.write_ops);
  replay::Replay replay{.name = flags.file,
                        .figures = replay::FiguresOf(*stream),
                        .notes = stream->notes,
                        .capacity = Bytes(flags.capacity),
                        .findings = {}};
  if (replay.figures.allocations == 0)
    return Complain({ErrorKind::kAbsent, flags.file + ": no allocation"});
  const Bytes enough = replay::DefaultCapacity(replay.figures);
  if (flags.capacity == 0) replay.capacity = enough;
  int code = kDone;
  for (const replay::PolicyKind* policy : *policies) {
    replay::Outcome outcome = replay::Play(*stream, *policy, replay.capacity);
    const replay::Outcome at_enough =
        replay.capacity == enough ? outcome : replay::Play(*stream, *policy, enough);
    if (!outcome.completed()) code = kFindings;
    replay.findings.push_back({policy, std::move(outcome),
                               replay::FindSmallestCapacity(*stream, *policy, enough, at_enough)});
  }
  Print(replay::Text(replay));
  return code;
}

}  // namespace

void AddReplay(CLI::App& app, int* code) {
  auto flags = std::make_shared<ReplayFlags>();
  flags->policies = {"all"};
  CLI::App* verb = app.add_subcommand(
      "replay", "Play a trace of allocations against ways to place them, without a device");
  verb->add_option(
          "trace", flags->file,
          "events of `cuheap run --mode full`, or another allocator's log (docs/replay.md)")
      ->required();
  verb->add_option("--policy", flags->policies, PolicyNames())->capture_default_str();
  verb->add_option("--capacity", flags->capacity,
                   "memory of a device, as 80G; exit 1 if it does not suffice")
      ->transform(CLI::AsSizeValue(false));
  verb->add_option("--heap", flags->heap,
                   "of a trace of cuheap's: whose blocks (torch, else driver)");
  verb->add_option("--scale", flags->scale, "multiply every size")
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1} << 30));
  verb->add_option("--write-ops", flags->write_ops,
                   "only write the operations, compressed, to this file");
  verb->callback([flags, code] { *code = Replay(*flags); });
}

}  // namespace cuheap::cli
