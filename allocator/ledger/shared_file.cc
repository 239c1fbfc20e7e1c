#include "allocator/ledger/shared_file.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>

#include "allocator/base/report_line.h"

namespace cuheap {
namespace {

constexpr int kNameTries = 64;
constexpr char kSuffix[] = ".cuheap";

// A path with room for a temporary suffix.
using Path = char[kPathBytes + 64];

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

// Ours alone: nobody else can plant a file or a link in it.
bool UsableFolder(const char* folder) {
  Path inside;
  std::snprintf(inside, sizeof inside, "%s/", folder);
  MakeParents(inside);
  struct stat status {};
  if (lstat(folder, &status) != 0 || !S_ISDIR(status.st_mode)) return false;
  if (status.st_uid != geteuid()) return false;
  if ((status.st_mode & 077) != 0) return chmod(folder, 0700) == 0;
  return true;
}

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

bool Reserve(int descriptor, Bytes offset, Bytes more) {
  const FileSizeSignalBlocked blocked;
  return posix_fallocate(descriptor, static_cast<off_t>(offset.count()),
                         static_cast<off_t>(more.count())) == 0;
}

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

// "a.cuheap" -> "a.PID-START.cuheap"; the suffix is kept so that the file is still found by its
// ending.
void NameWithProcess(const char* wanted, const ProcessName& process, int attempt, char* name) {
  std::size_t stem = std::strlen(wanted);
  const char* suffix = "";
  if (stem > sizeof kSuffix && std::strcmp(wanted + stem - (sizeof kSuffix - 1), kSuffix) == 0) {
    stem -= sizeof kSuffix - 1;
    suffix = kSuffix;
  }
  char again[16] = "";
  if (attempt > 1) std::snprintf(again, sizeof again, "-%d", attempt);
  std::snprintf(name, kPathBytes, "%.*s.%u-%llu%s%s", static_cast<int>(stem), wanted, process.pid,
                static_cast<unsigned long long>(process.start_ticks), again, suffix);
}

}  // namespace

ProcessName ThisProcess() {
  ProcessName process;
  process.pid = static_cast<std::uint32_t>(getpid());
  char text[1024];
  const int descriptor = open("/proc/self/stat", O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return process;
  const ssize_t size = read(descriptor, text, sizeof text - 1);
  close(descriptor);
  if (size <= 0) return process;
  text[size] = '\0';
  // Field 2 is the name in parentheses and may hold anything: count from the last closing one.
  const char* field = std::strrchr(text, ')');
  for (int i = 2; field != nullptr && i < 22; ++i) field = std::strchr(field + 1, ' ');
  if (field != nullptr) process.start_ticks = std::strtoull(field + 1, nullptr, 10);
  return process;
}

bool SharedFile::Create(const char* destination, const char* shared_folder, Bytes limit) {
  process_ = ThisProcess();
  reserved_ = limit.RoundedUpTo(Bytes(format::kChunkUnit));
  void* range = mmap(nullptr, reserved_.count(), PROT_NONE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (range == MAP_FAILED) return false;
  data_ = static_cast<std::byte*>(range);
  std::snprintf(destination_, sizeof destination_, "%s", destination);
  if (shared_folder != nullptr && CreateInSharedMemory(shared_folder)) {
    LinkDestination();
    return true;
  }
  if (CreateInPlace()) return true;
  storage_ = format::Storage::kPrivate;
  path_[0] = '\0';
  growths_left_out_ = 0;
  return Grow(Bytes(format::kChunkUnit)) != nullptr;
}

bool SharedFile::CreateInSharedMemory(const char* folder) {
  if (!UsableFolder(folder)) return false;
  int descriptor = -1;
  for (exec_count_ = 0; exec_count_ < kNameTries && descriptor < 0; ++exec_count_) {
    std::snprintf(path_, sizeof path_, "%s/%u-%llu-%u%s", folder, process_.pid,
                  static_cast<unsigned long long>(process_.start_ticks), exec_count_, kSuffix);
    descriptor = open(path_, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (descriptor < 0 && errno != EEXIST) return false;
  }
  if (descriptor < 0) return false;
  --exec_count_;
  struct stat status {};
  fstat(descriptor, &status);
  inode_ = status.st_ino;
  close(descriptor);
  storage_ = format::Storage::kSharedMemory;
  if (Grow(Bytes(format::kChunkUnit)) != nullptr) return true;
  unlink(path_);
  return false;
}

bool SharedFile::CreateInPlace() {
  char wanted[kPathBytes];
  std::snprintf(wanted, sizeof wanted, "%s", destination_);
  MakeParents(destination_);
  int descriptor = -1;
  for (int attempt = 0; attempt < kNameTries && descriptor < 0; ++attempt) {
    if (attempt > 0) NameWithProcess(wanted, process_, attempt, destination_);
    descriptor = open(destination_, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (descriptor < 0 && errno != EEXIST) break;
  }
  if (descriptor < 0) return false;
  struct stat status {};
  fstat(descriptor, &status);
  inode_ = status.st_ino;
  close(descriptor);
  std::snprintf(path_, sizeof path_, "%s", destination_);
  storage_ = format::Storage::kInPlace;
  growths_left_out_ = 0;
  linked_ = true;
  if (Grow(Bytes(format::kChunkUnit)) != nullptr) return true;
  unlink(path_);
  linked_ = false;
  return false;
}

void SharedFile::LinkDestination() {
  char wanted[kPathBytes];
  std::snprintf(wanted, sizeof wanted, "%s", destination_);
  MakeParents(destination_);
  for (int attempt = 0; attempt < kNameTries; ++attempt) {
    if (attempt > 0) NameWithProcess(wanted, process_, attempt, destination_);
    if (symlink(path_, destination_) == 0) {
      linked_ = true;
      return;
    }
    if (errno != EEXIST) break;
  }
  ReportLine("cannot write %s (%s); the trace stays in %s", wanted, strerrordesc_np(errno), path_);
}

int SharedFile::Open() const {
  const int descriptor = open(path_, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
  if (descriptor < 0) return -1;
  struct stat status {};
  if (fstat(descriptor, &status) == 0 && status.st_ino == inode_) return descriptor;
  close(descriptor);  // somebody put another file there
  return -1;
}

bool SharedFile::Map(Bytes more) {
  std::byte* place = data_ + size_.count();
  if (storage_ == format::Storage::kPrivate)
    return mprotect(place, more.count(), PROT_READ | PROT_WRITE) == 0;
  const int saved_errno = errno;
  const int descriptor = Open();
  bool mapped = false;
  if (descriptor >= 0) {
    mapped =
        Reserve(descriptor, size_, more) &&
        mmap(place, more.count(), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED | MAP_POPULATE,
             descriptor, static_cast<off_t>(size_.count())) != MAP_FAILED;
    close(descriptor);
  }
  errno = saved_errno;
  return mapped;
}

std::byte* SharedFile::Grow(Bytes more) {
  if (size_ + more > reserved_ || growths_left_out_ > 0) {
    if (growths_left_out_ > 0) --growths_left_out_;
    return nullptr;
  }
  if (!Map(more)) {
    growths_left_out_ = kGrowthsLeftOut;
    return nullptr;
  }
  std::byte* place = data_ + size_.count();
  size_ += more;
  return place;
}

bool SharedFile::CopyTo(const char* path, Bytes used) const {
  Path beside;
  std::snprintf(beside, sizeof beside, "%s.tmp-%u", path, process_.pid);
  const int descriptor = open(beside, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (descriptor < 0) return false;
  const bool whole = WriteAll(descriptor, data_, used.count());
  if (close(descriptor) == 0 && whole && rename(beside, path) == 0) return true;
  unlink(beside);
  return false;
}

bool SharedFile::BringHome(Bytes used) {
  if (storage_ == format::Storage::kInPlace) return true;
  if (storage_ == format::Storage::kSharedMemory && !linked_) return false;
  if (!CopyTo(destination_, used)) return false;
  if (storage_ == format::Storage::kSharedMemory) unlink(path_);
  return true;
}

void SharedFile::Forget() {
  data_ = nullptr;
  size_ = reserved_ = Bytes();
}

}  // namespace cuheap
