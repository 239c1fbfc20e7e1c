// What becomes of the process: whether this is a forked child, a privileged program, and whether
// objects were loaded or unloaded since the last look.
#pragma once

#include <cstdint>

namespace cuheap {

class ProcessLife {
 public:
  constexpr ProcessLife() = default;

  // From now on a child of this process is told from it, raw clone included: a page that the kernel
  // wipes in the child. A vfork child shares the page and is no concern: it may only exec.
  // False when the kernel refuses; then forks are told by the pid.
  bool Protect();
  bool IsForkedChild() const {
    if (page_ != nullptr) [[likely]]
      return *page_ == 0;
    return IsOtherProcess();
  }

  // A program that runs with more rights than its caller is not watched: the trace's path comes
  // from the caller.
  static bool IsPrivileged();

  struct LoadedObjects {
    std::uint64_t loads = 0;
    std::uint64_t unloads = 0;
  };
  // Takes the loader's lock for a moment: safe points only.
  static LoadedObjects CountLoadedObjects();

 private:
  bool IsOtherProcess() const;

  const unsigned char* page_ = nullptr;  // 1 in the process that called Protect, 0 in its children
  std::int32_t pid_ = 0;                 // only where there is no page
};

}  // namespace cuheap
