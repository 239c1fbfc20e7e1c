#include "tools/trace/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <utility>

namespace cuheap::trace {
namespace {

Error SystemError(const std::string& path) {
  const ErrorKind kind = errno == ENOENT ? ErrorKind::kMissing : ErrorKind::kUnreadable;
  return {kind, path + ": " + std::strerror(errno)};
}

}  // namespace

Result<MappedFile> MappedFile::Open(const std::string& path) {
  // Non-blocking, so that a FIFO given by mistake is refused below instead of waited for.
  const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) return SystemError(path);
  struct stat status = {};
  if (fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode)) {
    close(descriptor);
    return Error{ErrorKind::kUnreadable, path + ": not a regular file"};
  }
  if (status.st_size == 0) {
    close(descriptor);
    return Error{ErrorKind::kEmpty, path + ": the file is empty"};
  }
  const auto size = static_cast<std::size_t>(status.st_size);
  void* base = mmap(nullptr, size, PROT_READ, MAP_SHARED, descriptor, 0);
  close(descriptor);
  if (base == MAP_FAILED) return SystemError(path);
  return MappedFile({static_cast<const std::byte*>(base), size});
}

MappedFile::MappedFile(MappedFile&& other) noexcept : bytes_(std::exchange(other.bytes_, {})) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(bytes_, other.bytes_);
  return *this;
}

MappedFile::~MappedFile() {
  if (!bytes_.empty()) munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
}

void MappedFile::Forget(std::span<const std::byte> part) const {
  constexpr std::uintptr_t kPage = 4096;
  const auto begin = (reinterpret_cast<std::uintptr_t>(part.data()) + kPage - 1) & ~(kPage - 1);
  const auto end = reinterpret_cast<std::uintptr_t>(part.data() + part.size()) & ~(kPage - 1);
  if (begin < end) madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);
}

}  // namespace cuheap::trace
