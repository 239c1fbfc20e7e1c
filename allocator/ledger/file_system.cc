#include "allocator/ledger/file_system.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <ctime>

#include "allocator/ledger/format.h"
#include "allocator/ledger/process_name.h"

namespace cuheap {
namespace {

// A path with room for a temporary suffix.
using Path = char[kPathBytes + 64];

// A limit on file sizes (RLIMIT_FSIZE) answers with a signal that kills; here it is to be an error
// like a full disk.
class FileSizeSignalBlocked {
 public:
  FileSizeSignalBlocked() {
    sigemptyset(&signal_);
    sigaddset(&signal_, SIGXFSZ);
    pthread_sigmask(SIG_BLOCK, &signal_, &before_);
  }
  ~FileSizeSignalBlocked() {
    const timespec none{};
    if (sigismember(&before_, SIGXFSZ) == 0) {
      while (sigtimedwait(&signal_, nullptr, &none) == SIGXFSZ) {
      }
    }
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  FileSizeSignalBlocked(const FileSizeSignalBlocked&) = delete;
  FileSizeSignalBlocked& operator=(const FileSizeSignalBlocked&) = delete;

 private:
  sigset_t signal_{};
  sigset_t before_{};
};

bool WriteAll(int descriptor, const std::byte* data, std::uint64_t size) {
  const FileSizeSignalBlocked blocked;
  while (size > 0) {
    const ssize_t written = write(descriptor, data, size);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    data += written;
    size -= static_cast<std::uint64_t>(written);
  }
  return true;
}

}  // namespace

void MakeParents(const char* path) {
  Path partial;
  std::snprintf(partial, sizeof partial, "%s", path);
  for (char* slash = std::strchr(partial + 1, '/'); slash != nullptr;
       slash = std::strchr(slash + 1, '/')) {
    *slash = '\0';
    mkdir(partial, 0755);
    *slash = '/';
  }
}

bool MakeTrustedFolder(const char* folder) {
  MakeParents(folder);
  mkdir(folder, 0700);
  struct stat status {};
  if (lstat(folder, &status) != 0 || !S_ISDIR(status.st_mode)) return false;
  if ((status.st_mode & S_ISVTX) != 0) return true;  // as /dev/shm: files are their owners'
  return status.st_uid == geteuid() && (status.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

std::uint64_t CreateFile(const char* path) {
  const int descriptor = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (descriptor < 0) return 0;
  struct stat status {};
  fstat(descriptor, &status);
  close(descriptor);
  return status.st_ino;
}

bool ReserveStorage(int descriptor, Bytes offset, Bytes more) {
  constexpr int kTries = 100;  // a profiler's timer interrupts it
  const FileSizeSignalBlocked blocked;
  int error = EINTR;
  for (int i = 0; i < kTries && error == EINTR; ++i)
    error = posix_fallocate(descriptor, static_cast<off_t>(offset.count()),
                            static_cast<off_t>(more.count()));
  return error == 0;
}

bool WriteFile(const char* path, std::uint32_t process, const std::byte* head,
               const std::byte* data, Bytes size) {
  constexpr std::uint64_t kHead = format::kChunkUnit;
  Path beside;
  std::snprintf(beside, sizeof beside, "%s.tmp-%u", path, process);
  const int descriptor = open(beside, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (descriptor < 0) return false;
  const bool whole =
      WriteAll(descriptor, head, kHead) && WriteAll(descriptor, data + kHead, size.count() - kHead);
  if (close(descriptor) == 0 && whole && rename(beside, path) == 0) return true;
  unlink(beside);
  return false;
}

bool LeadsTo(const char* path, const char* target) {
  char link[kPathBytes];
  const ssize_t length = readlink(path, link, sizeof link);
  return length >= 0 && static_cast<std::size_t>(length) == std::strlen(target) &&
         std::memcmp(link, target, static_cast<std::size_t>(length)) == 0;
}

}  // namespace cuheap
