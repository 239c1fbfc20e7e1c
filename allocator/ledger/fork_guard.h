// Tells a forked child from the process that opened the ledger, raw clone included, without hooks
// at fork: a page that the kernel zeroes in the child. Threads: any, no locks.
#pragma once

#include <cstdint>

namespace cuheap {

class ForkGuard {
 public:
  constexpr ForkGuard() = default;
  ForkGuard(const ForkGuard&) = delete;
  ForkGuard& operator=(const ForkGuard&) = delete;

  void Start();
  bool InChild() const;

 private:
  const volatile char* page_ = nullptr;
  std::uint32_t process_ = 0;
};

}  // namespace cuheap
