// Tells a forked child from the process that called Start, raw clone included, without hooks at
// fork: one word of a page that the kernel zeroes in the child. All guards of a process share it. A
// vfork child shares the page and is no concern: it may only exec. Threads: any, no locks; Start
// before the others.
#pragma once

#include <atomic>
#include <cstdint>

namespace cuheap {

class ForkGuard {
 public:
  constexpr ForkGuard() = default;
  ForkGuard(const ForkGuard&) = delete;
  ForkGuard& operator=(const ForkGuard&) = delete;

  void Start();
  // False before Start.
  bool InChild() const {
    if (word_ != nullptr) [[likely]]
      return word_->load(std::memory_order_relaxed) != process_;
    return IsOtherProcess();
  }

 private:
  bool IsOtherProcess() const;

  // Holds the number of the process that called Start, and 0 in a child that has not.
  const std::atomic<std::int32_t>* word_ = nullptr;
  std::int32_t process_ = 0;
  std::int32_t pid_ = 0;  // for kernels that cannot wipe
};

}  // namespace cuheap
