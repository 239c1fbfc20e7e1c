#include "allocator/base/fork_guard.h"

#include <sys/mman.h>
#include <unistd.h>

#include <new>

namespace cuheap {
namespace {

constinit std::atomic<std::atomic<std::int32_t>*> shared_word{nullptr};
// Numbers for processes. A child counts on from its parent's, so the two never have the same; their
// pids may, in namespaces.
constinit std::atomic<std::int32_t> processes{0};

// nullptr on kernels that cannot wipe pages (before 4.14, some sandboxes).
std::atomic<std::int32_t>* MakeWord() {
  constexpr std::size_t kPage = 4096;
  void* page = mmap(nullptr, kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) return nullptr;
  if (madvise(page, kPage, MADV_WIPEONFORK) != 0) {
    munmap(page, kPage);
    return nullptr;
  }
  std::atomic<std::int32_t>* word = nullptr;
  auto* const made = new (page) std::atomic<std::int32_t>(0);
  if (shared_word.compare_exchange_strong(word, made)) return made;
  munmap(page, kPage);
  return word;
}

}  // namespace

void ForkGuard::Start() {
  pid_ = getpid();
  std::atomic<std::int32_t>* word = shared_word.load(std::memory_order_acquire);
  if (word == nullptr) word = MakeWord();
  if (word == nullptr) return;
  std::int32_t process = 0;
  const std::int32_t next = processes.fetch_add(1, std::memory_order_relaxed) + 1;
  if (word->compare_exchange_strong(process, next)) process = next;
  process_ = process;
  word_ = word;
}

// Where pages cannot be wiped a look costs a system call.
bool ForkGuard::IsOtherProcess() const { return pid_ != 0 && pid_ != getpid(); }

}  // namespace cuheap
