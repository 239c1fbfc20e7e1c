#include "tools/cli/run_target.h"

#include <algorithm>
#include <filesystem>

#include "tools/trace/locate.h"
#include "tools/trace/process.h"
#include "tools/trace/reader.h"

namespace cuheap::cli {
namespace {

namespace fs = std::filesystem;

// The pattern filled in up to the first placeholder that differs from process to process (%p, %r).
struct Filled {
  std::string text;
  bool whole = true;
};

Filled Fill(const std::string& pattern) {
  Filled filled;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    const char next = pattern[i] == '%' && i + 1 < pattern.size() ? pattern[i + 1] : '\0';
    if (next == 'p' || next == 'r') {
      filled.whole = false;
      break;
    }
    if (next == 'h') filled.text += trace::HostName();
    if (next == '%') filled.text += '%';
    if (next == 'h' || next == '%') {
      ++i;
    } else {
      filled.text += pattern[i];
    }
  }
  return filled;
}

// A folder's name as a pattern that stands for it.
std::string Escaped(const std::string& text) {
  std::string escaped;
  for (const char c : text) escaped.append(c == '%' ? 2 : 1, c);
  return escaped;
}

// Traces of the run whose path goes on from `folder` with something that begins with `start`,
// through that many folders more.
void Find(const fs::path& folder, const std::string& start, std::size_t folders,
          const std::string& run_id, std::vector<std::string>* files) {
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with(start)) continue;
    if (folders > 0) {
      if (fs::is_directory(entry.symlink_status(error)))
        Find(entry.path(), "", folders - 1, run_id, files);
      continue;
    }
    if (name.ends_with(".checkpoint") || name.ends_with(".tmp")) continue;
    const Result<trace::Trace> header = trace::ReadTraceHeader(entry.path().string());
    if (header.ok() && header->identity.run_id == run_id) files->push_back(entry.path().string());
  }
}

}  // namespace

RunTarget RunTarget::From(const std::string& out, const std::string& command) {
  RunTarget target;
  const std::string name =
      out.empty() ? Escaped(fs::path(command).filename().string()) + ".%h.%p.cuheap" : out;
  std::error_code gone;  // then a relative name stays relative, which Prepare refuses
  const std::string here = Escaped(fs::current_path(gone).string());
  target.pattern_ = (fs::path(here) / name).lexically_normal().string();
  return target;
}

Result<bool> RunTarget::Prepare(bool force) const {
  std::error_code error;
  if (!fs::path(pattern_).is_absolute())
    return Error{ErrorKind::kAbsent, "the present folder is gone, and -o is relative to it"};
  constexpr std::size_t kLongest = 900;  // the library has room for 1024, with pid and host
  if (pattern_.size() > kLongest)
    return Error{ErrorKind::kAbsent,
                 "-o: longer than 900 bytes: " + pattern_.substr(0, 60) + "..."};
  const Filled filled = Fill(pattern_);
  const fs::path folder = fs::path(filled.text).parent_path();
  fs::create_directories(folder, error);
  if (error) return Error{ErrorKind::kUnreadable, folder.string() + ": " + error.message()};
  const std::string& file = filled.text;
  const fs::file_status status = fs::symlink_status(file, error);
  if (!filled.whole || !fs::exists(status)) return true;
  if (fs::is_directory(file, error)) return Error{ErrorKind::kAbsent, file + ": is a folder"};
  if (!fs::is_regular_file(status) && !fs::is_symlink(status))
    return Error{ErrorKind::kAbsent, file + ": is not a file, and a trace would replace it"};
  if (!force) return Error{ErrorKind::kAbsent, file + ": exists already (-f replaces it)"};
  fs::remove(trace::CheckpointName(file), error);
  fs::remove(file, error);
  if (error) return Error{ErrorKind::kUnreadable, file + ": " + error.message()};
  return true;
}

std::vector<std::string> RunTarget::FilesOf(const std::string& run_id) const {
  std::vector<std::string> files;
  const Filled filled = Fill(pattern_);
  // A placeholder in a folder's name makes folders that begin alike.
  const std::size_t folders =
      static_cast<std::size_t>(std::count(pattern_.begin(), pattern_.end(), '/') -
                               std::count(filled.text.begin(), filled.text.end(), '/'));
  const fs::path fixed(filled.text);
  // Further processes of a run get names that begin as the first one's does, without its suffix.
  const std::string start = filled.whole ? fixed.stem().string() : fixed.filename().string();
  Find(fixed.parent_path(), start, folders, run_id, &files);
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace cuheap::cli
