#include "tools/trace/locate.h"

#include <filesystem>
#include <system_error>

namespace cuheap::trace {

std::string CheckpointName(const std::string& name) { return name + ".checkpoint"; }

Result<Location> Locate(const std::string& name) {
  std::error_code error;
  if (std::filesystem::exists(name, error)) return Location{name, false};
  if (!std::filesystem::is_symlink(name, error))
    return Error{ErrorKind::kMissing, name + ": no such file"};
  const std::string target = std::filesystem::read_symlink(name, error).string();
  const std::string checkpoint = CheckpointName(name);
  if (std::filesystem::exists(checkpoint, error)) return Location{checkpoint, true};
  return Error{ErrorKind::kMissing, name + ": a link to " + target +
                                        ", which is gone, and there is no checkpoint of it"};
}

}  // namespace cuheap::trace
