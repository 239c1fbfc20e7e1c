// A file mapped for reading. The mapping is shared, so what a running writer stores becomes
// visible.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "tools/trace/result.h"

namespace cuheap::trace {

class MappedFile {
 public:
  static Result<MappedFile> Open(const std::string& path);
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  ~MappedFile();

  std::span<const std::byte> bytes() const { return bytes_; }
  // Tells the kernel that a part was read and is not needed again, so that a big trace does not
  // count twice in memory.
  void Forget(std::span<const std::byte> part) const;

 private:
  explicit MappedFile(std::span<const std::byte> bytes) : bytes_(bytes) {}
  std::span<const std::byte> bytes_;
};

}  // namespace cuheap::trace
