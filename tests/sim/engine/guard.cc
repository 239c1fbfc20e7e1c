#include "tests/sim/engine/guard.h"

#include <fcntl.h>
#include <link.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "tests/sim/engine/settings.h"

namespace cuheap::sim {
namespace {

constexpr std::array<std::string_view, 6> kNvidiaPrefixes = {
    "libcu", "libnv", "libnccl", "libcaffe2_nvrtc_", "libnpp", "libnvidia"};
constexpr std::array<std::string_view, 2> kOurs = {"libcuheap", "libcurl"};

bool IsNvidias(std::string_view name) {
  const auto begins = [name](std::string_view prefix) { return name.starts_with(prefix); };
  return std::any_of(kNvidiaPrefixes.begin(), kNvidiaPrefixes.end(), begins) &&
         std::none_of(kOurs.begin(), kOurs.end(), begins);
}

std::string_view FolderOf(std::string_view path) { return path.substr(0, path.rfind('/')); }

// Where this library itself lies: the stand-ins are its neighbours.
const std::string& OwnFolder() {
  static const auto& folder = *new std::string([] {
    std::string own;
    dl_iterate_phdr(
        [](dl_phdr_info* object, size_t, void* found) {
          const std::string_view path = object->dlpi_name;
          if (path.ends_with("/libcuheap_sim.so"))
            *static_cast<std::string*>(found) = FolderOf(path);
          return 0;
        },
        &own);
    return own;
  }());
  return folder;
}

int Append(dl_phdr_info* object, size_t, void* text) {
  const std::string_view path = object->dlpi_name;
  if (IsNvidias(path.substr(path.rfind('/') + 1)) && FolderOf(path) != OwnFolder())
    static_cast<std::string*>(text)->append(path).append("\n");
  return 0;
}

[[gnu::destructor]] void AtExit() { ReportForeignLibraries(); }

}  // namespace

void ReportForeignLibraries() {
  const std::string& file = TheSettings().guard;
  if (file.empty()) return;
  OwnFolder();
  std::string text;
  dl_iterate_phdr(Append, &text);
  if (text.empty()) return;
  const int descriptor = open(file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (descriptor < 0) return;
  [[maybe_unused]] const ssize_t written = write(descriptor, text.data(), text.size());
  close(descriptor);
}

}  // namespace cuheap::sim
