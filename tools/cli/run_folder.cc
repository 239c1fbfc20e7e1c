#include "tools/cli/run_folder.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <charconv>
#include <filesystem>
#include <random>

#include "tools/trace/home.h"
#include "tools/trace/locate.h"
#include "tools/trace/process.h"
#include "tools/trace/reader.h"

namespace cuheap::cli {
namespace {

namespace fs = std::filesystem;

std::string BasePath() { return fmt::format("/dev/shm/cuheap-{}", getuid()); }

// Shared memory is everybody's: a folder that is not our own is not used.
bool MakePrivateFolder(const std::string& path) {
  mkdir(path.c_str(), 0700);
  struct stat status = {};
  if (lstat(path.c_str(), &status) != 0) return false;
  return S_ISDIR(status.st_mode) && status.st_uid == getuid() && (status.st_mode & 0077) == 0;
}

std::vector<std::string> FilesIn(const std::string& folder) {
  std::vector<std::string> files;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
    if (fs::is_regular_file(entry.symlink_status(error))) files.push_back(entry.path().string());
  }
  return files;
}

std::vector<std::string> CollectFiles(const std::string& folder) {
  std::vector<std::string> homes;
  for (const std::string& file : FilesIn(folder)) {
    const Result<trace::Trace> header = trace::ReadTraceHeader(file);
    if (!header.ok()) {
      // Its process died before the header was written, or is just about to write it: only the
      // former is waste.
      struct stat status = {};
      constexpr std::time_t kGrace = 60;
      if (stat(file.c_str(), &status) == 0 && time(nullptr) - status.st_mtime > kGrace)
        unlink(file.c_str());
      continue;
    }
    if (header->completeness.running) continue;
    const Result<std::string> home = trace::BringHome(file);
    if (home.ok()) {
      homes.push_back(*home);
    } else {
      std::fprintf(stderr, "cuheap: the trace stays at %s: %s\n", file.c_str(),
                   home.error().message.c_str());
      homes.push_back(file);
    }
  }
  return homes;
}

std::vector<std::string> CollectFolder(const std::string& folder) {
  std::vector<std::string> homes = CollectFiles(folder);
  rmdir(folder.c_str());  // fails while a living process keeps its file there
  return homes;
}

// The `run` that made a folder, from its name; false for a name that no run gives.
bool RunnerLives(const std::string& name, bool* known) {
  std::uint32_t pid = 0;
  std::uint64_t ticks = 0;
  const char* end = name.data() + name.size();
  const auto first = std::from_chars(name.data(), end, pid);
  *known = first.ec == std::errc() && first.ptr != end && *first.ptr == '-';
  if (!*known) return false;
  const auto second = std::from_chars(first.ptr + 1, end, ticks);
  *known = second.ec == std::errc();
  return *known && trace::IsRunning(pid, ticks);
}

}  // namespace

RunFolder RunFolder::Create() {
  RunFolder folder;
  const auto pid = static_cast<std::uint32_t>(getpid());
  folder.run_id_ =
      fmt::format("{}-{}-{:06x}", pid, trace::StartTicks(pid), std::random_device{}() & 0xffffffu);
  const std::string base = BasePath();
  const std::string path = base + "/" + folder.run_id_;
  if (MakePrivateFolder(base) && MakePrivateFolder(path)) folder.path_ = path;
  return folder;
}

void RunFolder::Checkpoint(const std::string& file) {
  const Result<trace::Trace> header = trace::ReadTraceHeader(file);
  if (!header.ok() || header->identity.destination.empty()) return;
  const std::string checkpoint = trace::CheckpointName(header->identity.destination);
  if (trace::CopyTrace(file, checkpoint).ok()) checkpoints_.insert(checkpoint);
}

void RunFolder::CheckpointAll() {
  if (path_.empty()) return;
  for (const std::string& file : FilesIn(path_)) Checkpoint(file);
}

void RunFolder::CheckpointAfterOutOfMemory() {
  if (path_.empty()) return;
  for (const std::string& file : FilesIn(path_)) {
    const std::uint64_t time = trace::LastOutOfMemory(file);
    if (time <= out_of_memory_[file]) continue;
    out_of_memory_[file] = time;
    Checkpoint(file);
  }
}

std::vector<std::string> RunFolder::Collect() {
  std::vector<std::string> homes;
  if (!path_.empty()) homes = CollectFolder(path_);
  for (const std::string& checkpoint : checkpoints_) {
    // A process that closed its own file left the checkpoint to us.
    const std::string destination =
        checkpoint.substr(0, checkpoint.size() - trace::CheckpointName("").size());
    std::error_code error;
    if (fs::is_regular_file(fs::symlink_status(destination, error))) fs::remove(checkpoint, error);
  }
  return homes;
}

std::vector<std::string> RunFolder::CollectLeftovers() {
  // Processes that are watched without a `run` keep their files in the folder above.
  std::vector<std::string> homes = CollectFiles(BasePath());
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(BasePath(), error)) {
    bool known = false;
    if (RunnerLives(entry.path().filename().string(), &known) || !known) continue;
    const std::vector<std::string> found = CollectFolder(entry.path().string());
    homes.insert(homes.end(), found.begin(), found.end());
  }
  return homes;
}

}  // namespace cuheap::cli
