#include "tests/sim/engine/call_stack.h"

#include <dlfcn.h>
#include <execinfo.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cinttypes>
#include <cstdio>
#include <map>
#include <mutex>
#include <sstream>
#include <vector>

namespace cuheap::sim {
namespace {

constexpr int kFrames = 32;

struct CallStack {
  std::vector<void*> native;
  std::string python;
  auto operator<=>(const CallStack&) const = default;
};

struct Table {
  std::mutex mutex;
  std::map<CallStack, StackId> ids;
  std::vector<const CallStack*> stacks;
};

Table& TheTable() {
  static auto& table = *new Table;
  return table;
}

// What the interpreter's own dump for crashes says; it asks for no lock. Nothing where the process
// has no interpreter, or one that does not export it.
std::string PythonFrames() {
  using Dump = void (*)(int, void*);
  using State = void* (*)();
  static const auto dump = reinterpret_cast<Dump>(dlsym(RTLD_DEFAULT, "_Py_DumpTraceback"));
  static const auto state =
      reinterpret_cast<State>(dlsym(RTLD_DEFAULT, "PyGILState_GetThisThreadState"));
  if (dump == nullptr || state == nullptr) return "";
  void* const thread = state();
  if (thread == nullptr) return "";
  static thread_local const int file = memfd_create("cuheap-sim-stack", MFD_CLOEXEC);
  if (file < 0 || ftruncate(file, 0) != 0 || lseek(file, 0, SEEK_SET) != 0) return "";
  dump(file, thread);
  std::string text(static_cast<std::size_t>(lseek(file, 0, SEEK_CUR)), ' ');
  const ssize_t got = pread(file, text.data(), text.size(), 0);
  text.resize(got < 0 ? 0 : static_cast<std::size_t>(got));
  return text;
}

// Frames of the simulated device itself say nothing.
bool IsOurs(const Dl_info& info) {
  const std::string path = info.dli_fname == nullptr ? "" : info.dli_fname;
  return path.find("libcuheap_sim.so") != std::string::npos ||
         path.find("/libcuda.so") != std::string::npos;
}

std::string FrameText(void* address) {
  Dl_info info{};
  char text[512];
  if (dladdr(address, &info) == 0 || IsOurs(info)) return "";
  const auto offset =
      reinterpret_cast<std::uintptr_t>(address) - reinterpret_cast<std::uintptr_t>(info.dli_fbase);
  std::snprintf(text, sizeof text, "%s  %s+%#" PRIxPTR,
                info.dli_sname != nullptr ? info.dli_sname : "?",
                info.dli_fname != nullptr ? info.dli_fname : "?", offset);
  return text;
}

}  // namespace

StackId CallStackHere() {
  void* frames[kFrames];
  const int count = backtrace(frames, kFrames);
  CallStack stack{std::vector<void*>(frames, frames + count), PythonFrames()};
  Table& table = TheTable();
  const std::lock_guard<std::mutex> guard(table.mutex);
  const auto [place, added] =
      table.ids.try_emplace(std::move(stack), static_cast<StackId>(table.stacks.size() + 1));
  if (added) table.stacks.push_back(&place->first);
  return place->second;
}

std::string CallStackText(StackId id, const std::string& indent) {
  Table& table = TheTable();
  const std::lock_guard<std::mutex> guard(table.mutex);
  if (id == 0 || id > table.stacks.size()) return indent + "unknown\n";
  const CallStack& stack = *table.stacks[id - 1];
  std::string text;
  std::istringstream python(stack.python);
  for (std::string line; std::getline(python, line);)
    if (line.starts_with("  ")) text += indent + line.substr(2) + "\n";
  for (void* address : stack.native) {
    const std::string frame = FrameText(address);
    if (!frame.empty()) text += indent + frame + "\n";
  }
  return text;
}

}  // namespace cuheap::sim
