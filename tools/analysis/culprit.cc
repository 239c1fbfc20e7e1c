#include "tools/analysis/culprit.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>

namespace cuheap::analysis {
namespace {

using trace::Frame;

constexpr std::array<std::string_view, 6> kLibraryPython = {
    "/site-packages/", "/dist-packages/", "/lib/python3",
    "/Lib/",           "<frozen",         "<__array_function__"};

// Modules that are never the user's own, by the start of the file name.
constexpr std::array<std::string_view, 21> kLibraryModules = {
    "libc.so",   "libc-",       "ld-linux",    "libstdc++", "libpthread", "libpython", "libm.so",
    "libtorch",  "libc10",      "libcuda",     "libcudart", "libcublas",  "libcudnn",  "libcufft",
    "libcurand", "libcusolver", "libcusparse", "libcupti",  "libcuheap",  "libnccl",   "libnv"};

constexpr std::array<std::string_view, 6> kWorkspaceWords = {
    "getworkspace",    "cublascreate",      "cublasltcreate",
    "cublasworkspace", "cudablasworkspace", "blasltworkspace"};

// Between the allocator and whoever wanted memory.
constexpr std::array<std::string_view, 3> kAllocatorModules = {"libc10", "libcuheap", "libcuda"};

std::string_view BaseName(std::string_view path) { return path.substr(path.rfind('/') + 1); }

bool IsUsers(const Frame& frame) {
  if (frame.python) {
    return !frame.file.empty() &&
           std::none_of(kLibraryPython.begin(), kLibraryPython.end(), [&](std::string_view part) {
             return frame.file.find(part) != std::string::npos;
           });
  }
  const std::string_view name = BaseName(frame.file);
  return !name.empty() &&
         std::none_of(kLibraryModules.begin(), kLibraryModules.end(),
                      [&](std::string_view start) { return name.starts_with(start); });
}

bool IsBackward(const Frame& frame) {
  return frame.function.find("Backward") != std::string::npos &&
         frame.function.find("::apply") != std::string::npos;
}

bool IsOperator(const Frame& frame) {
  return frame.function.find("at::_ops::") != std::string::npos;
}

bool IsAboveAllocator(const Frame& frame) {
  const std::string_view name = BaseName(frame.file);
  return std::none_of(kAllocatorModules.begin(), kAllocatorModules.end(),
                      [&](std::string_view start) { return name.starts_with(start); });
}

}  // namespace

const Frame* Culprit(const std::vector<Frame>& frames) {
  for (const auto& wanted : {IsUsers, IsBackward, IsOperator, IsAboveAllocator}) {
    const auto found = std::find_if(frames.begin(), frames.end(), wanted);
    if (found != frames.end()) return &*found;
  }
  return frames.empty() ? nullptr : &frames.front();
}

std::string ShortFunction(const std::string& function) {
  constexpr std::string_view kAnonymous = "(anonymous namespace)";
  std::string name;
  int depth = 0;
  for (std::size_t i = 0; i < function.size(); ++i) {
    if (function.compare(i, kAnonymous.size(), kAnonymous) == 0) {
      if (depth == 0) name += kAnonymous;
      i += kAnonymous.size() - 1;
    } else if (function[i] == '<' && !name.empty() && name.back() != ' ' && name.back() != '.') {
      ++depth;
    } else if (function[i] == '>' && depth > 0) {
      --depth;
    } else if (function[i] == '(' && depth == 0 && !name.empty()) {
      break;
    } else if (depth == 0) {
      name += function[i];
    }
  }
  return name;
}

std::string PlaceOf(const std::vector<Frame>& frames) {
  const Frame* frame = Culprit(frames);
  if (frame == nullptr) return "an unknown place";
  if (frame->line > 0) return fmt::format("{}:{}", BaseName(frame->file), frame->line);
  return ShortFunction(frame->function);
}

std::string WorkspaceFunction(const std::vector<Frame>& frames) {
  for (const Frame& frame : frames) {
    std::string name = frame.function;
    std::transform(name.begin(), name.end(), name.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    for (const std::string_view word : kWorkspaceWords) {
      if (name.find(word) != std::string::npos) return ShortFunction(frame.function);
    }
  }
  return "";
}

}  // namespace cuheap::analysis
