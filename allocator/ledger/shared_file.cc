#include "allocator/ledger/shared_file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>

#include "allocator/base/report_line.h"
#include "allocator/ledger/file_system.h"

namespace cuheap {
namespace {

constexpr int kNameTries = 64;
constexpr Bytes kHeader{format::kChunkUnit};

// The header's counters may be added to without the lock: they are read a word at a time.
void LoadHeader(const std::byte* from, std::byte* to) {
  for (std::uint64_t at = 0; at < kHeader.count(); at += sizeof(std::uint64_t)) {
    const std::uint64_t word =
        __atomic_load_n(reinterpret_cast<const std::uint64_t*>(from + at), __ATOMIC_RELAXED);
    std::memcpy(to + at, &word, sizeof word);
  }
}

}  // namespace

bool SharedFile::Create(const char* destination, const char* shared_folder, Bytes limit) {
  process_ = ThisProcess();
  reserved_ = limit.RoundedUpTo(kHeader);
  void* range = mmap(nullptr, reserved_.count(), PROT_NONE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (range == MAP_FAILED) return false;
  data_ = static_cast<std::byte*>(range);
  std::snprintf(destination_, sizeof destination_, "%s", destination);
  MakeParents(destination_);
  if (shared_folder != nullptr && CreateInSharedMemory(shared_folder)) {
    if (TakeName([this](const char* name) { return symlink(path_, name) == 0; })) return true;
    if (errno != EPERM && errno != EOPNOTSUPP) {
      ReportLine("cannot write %s (%s); the trace stays in %s", destination_,
                 strerrordesc_np(errno), path_);
      return true;
    }
    unlink(path_);  // a file system without links takes the file itself
    size_ = Bytes();
  }
  if (!TakeName([this](const char* name) { return (inode_ = CreateFile(name)) != 0; }))
    return false;
  std::snprintf(path_, sizeof path_, "%s", destination_);
  storage_ = format::Storage::kInPlace;
  growths_left_out_ = 0;
  if (Grow(kHeader) != nullptr) return true;
  path_[0] = '\0';
  storage_ = format::Storage::kPrivate;
  growths_left_out_ = 0;
  return Grow(kHeader) != nullptr;
}

bool SharedFile::CreateInSharedMemory(const char* folder) {
  if (!MakeTrustedFolder(folder)) return false;
  exec_count_ = FilesOfProcess(folder, process_);
  for (int i = 0; i < kNameTries && inode_ == 0; ++i) {
    NameInFolder(folder, process_, path_);
    inode_ = CreateFile(path_);
    if (inode_ == 0 && errno != EEXIST) return false;
  }
  if (inode_ == 0) return false;
  storage_ = format::Storage::kSharedMemory;
  if (Grow(kHeader) != nullptr) return true;
  unlink(path_);
  return false;
}

// Makes `make` take the first name that is free: the wanted one, else one with pid and start time.
// On failure errno says why and the destination is the wanted one.
template <typename Make>
bool SharedFile::TakeName(Make make) {
  char wanted[kPathBytes];
  std::memcpy(wanted, destination_, sizeof wanted);
  for (int attempt = 0; attempt < kNameTries; ++attempt) {
    if (attempt > 0) NameWithProcess(wanted, process_, attempt, destination_);
    at_destination_ = make(destination_);
    if (at_destination_) return true;
    if (errno != EEXIST) break;
  }
  std::memcpy(destination_, wanted, sizeof wanted);
  return false;
}

int SharedFile::Open(const char* path, std::uint64_t inode) const {
  const int descriptor = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
  if (descriptor < 0) return -1;
  struct stat status {};
  if (fstat(descriptor, &status) == 0 && status.st_ino == inode) return descriptor;
  close(descriptor);  // somebody put another file there
  return -1;
}

bool SharedFile::Map(Bytes more) {
  std::byte* place = data_ + size_.count();
  if (storage_ == format::Storage::kPrivate)
    return mprotect(place, more.count(), PROT_READ | PROT_WRITE) == 0;
  const int saved_errno = errno;
  const int descriptor = Open(path_, inode_);
  bool mapped = false;
  if (descriptor >= 0) {
    mapped =
        ReserveStorage(descriptor, size_, more) &&
        mmap(place, more.count(), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED | MAP_POPULATE,
             descriptor, static_cast<off_t>(size_.count())) != MAP_FAILED;
    close(descriptor);
  }
  errno = saved_errno;
  return mapped;
}

std::byte* SharedFile::Grow(Bytes more) {
  if (size_ + more > reserved_) return nullptr;
  if (growths_left_out_ > 0) {  // asking a full disk at every event would cost the job time
    --growths_left_out_;
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

bool SharedFile::CopyTo(const char* path, const std::byte* data, Bytes size) const {
  std::byte head[kHeader.count()];
  LoadHeader(data, head);
  return WriteFile(path, process_.pid, head, data, size);
}

bool SharedFile::BringHome() {
  if (storage_ == format::Storage::kInPlace) return true;
  if (!at_destination_) return false;
  const bool shared = storage_ == format::Storage::kSharedMemory;
  // Whoever put another file in the link's place keeps it.
  if (shared && !LeadsTo(destination_, path_) && access(destination_, F_OK) == 0) return false;
  if (!CopyTo(destination_, data_, size_)) return false;
  if (shared) unlink(path_);
  std::snprintf(path_, sizeof path_, "%s", destination_);
  MapHeader(destination_);
  return true;
}

// What is counted after the end (late events) is counted in the file that stays. Where that cannot
// be mapped, the old page goes on alone.
void SharedFile::MapHeader(const char* path) {
  const int descriptor = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
  if (descriptor < 0) return;
  void* page = mmap(nullptr, kHeader.count(), PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  close(descriptor);
  if (page == MAP_FAILED) return;
  mremap(page, kHeader.count(), kHeader.count(), MREMAP_MAYMOVE | MREMAP_FIXED, data_);
}

void SharedFile::ReleaseAllButHeader() {
  munmap(data_ + kHeader.count(), (reserved_ - kHeader).count());
  size_ = reserved_ = kHeader;
}

void SharedFile::Forget() {
  ReleaseAllButHeader();
  mmap(data_, kHeader.count(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1,
       0);
}

}  // namespace cuheap
