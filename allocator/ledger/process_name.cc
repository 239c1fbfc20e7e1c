#include "allocator/ledger/process_name.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>

namespace cuheap {
namespace {

unsigned long long Ticks(const ProcessName& process) { return process.start_ticks; }

std::uint32_t RandomWord() {
  std::uint32_t word = 0;
  if (getrandom(&word, sizeof word, GRND_NONBLOCK) == sizeof word) return word;
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint32_t>(now.tv_nsec);
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

void NameWithProcess(const char* wanted, const ProcessName& process, int attempt,
                     char (&name)[kPathBytes]) {
  constexpr std::size_t kSuffixBytes = sizeof kTraceSuffix - 1;
  std::size_t stem = std::strlen(wanted);
  const char* suffix = "";
  if (stem > kSuffixBytes && std::strcmp(wanted + stem - kSuffixBytes, kTraceSuffix) == 0) {
    stem -= kSuffixBytes;
    suffix = kTraceSuffix;
  }
  char again[16] = "";
  if (attempt > 1) std::snprintf(again, sizeof again, "-%d", attempt);
  std::snprintf(name, sizeof name, "%.*s.%u-%llu%s%s", static_cast<int>(stem), wanted, process.pid,
                Ticks(process), again, suffix);
}

void NameInFolder(const char* folder, const ProcessName& process, char (&path)[kPathBytes]) {
  std::snprintf(path, sizeof path, "%s/%u-%llu-%08x%s", folder, process.pid, Ticks(process),
                RandomWord(), kTraceSuffix);
}

// Not opendir, which calls malloc.
std::uint32_t FilesOfProcess(const char* folder, const ProcessName& process) {
  char prefix[64];
  const int length = std::snprintf(prefix, sizeof prefix, "%u-%llu-", process.pid, Ticks(process));
  const int descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return 0;
  std::uint32_t files = 0;
  alignas(dirent64) char entries[4096];
  for (long size = 0; (size = syscall(SYS_getdents64, descriptor, entries, sizeof entries)) > 0;) {
    for (long at = 0; at < size;) {
      const auto* entry = reinterpret_cast<const dirent64*>(entries + at);
      if (std::strncmp(entry->d_name, prefix, static_cast<std::size_t>(length)) == 0) ++files;
      at += entry->d_reclen;
    }
  }
  close(descriptor);
  return files;
}

}  // namespace cuheap
