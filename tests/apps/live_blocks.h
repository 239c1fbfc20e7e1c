// The blocks that a program holds, kept apart from the heap that gave them: two that overlap are a
// fault of the heap. Thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <mutex>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace cuheap::apps {

class LiveBlocks {
 public:
  // After the heap gave the block.
  void Add(const void* block, std::size_t bytes) {
    const auto first = reinterpret_cast<std::uintptr_t>(block);
    const std::lock_guard lock(mutex_);
    const auto next = blocks_.upper_bound(first);
    if (next != blocks_.end() && first + bytes > next->first) ReportOverlap(first, bytes, *next);
    if (next != blocks_.begin()) {
      const auto& before = *std::prev(next);
      if (before.first + before.second > first) ReportOverlap(first, bytes, before);
    }
    blocks_.emplace(first, bytes);
  }

  // Before the heap gets it back: at once another thread may hold the address.
  void Remove(const void* block) {
    const std::lock_guard lock(mutex_);
    blocks_.erase(reinterpret_cast<std::uintptr_t>(block));
  }

  void Report(std::string fault) {
    const std::lock_guard lock(mutex_);
    faults_.push_back(std::move(fault));
  }

  std::vector<std::string> Faults() const {
    const std::lock_guard lock(mutex_);
    return faults_;
  }

 private:
  using Block = std::pair<const std::uintptr_t, std::size_t>;

  // REQUIRES: mutex_.
  void ReportOverlap(std::uintptr_t first, std::size_t bytes, const Block& other) {
    std::ostringstream text;
    text << std::hex << "block 0x" << first << " of 0x" << bytes << " bytes overlaps live block 0x"
         << other.first << " of 0x" << other.second;
    faults_.push_back(text.str());
  }

  mutable std::mutex mutex_;
  std::map<std::uintptr_t, std::size_t> blocks_;  // address -> bytes; guarded by mutex_
  std::vector<std::string> faults_;               // guarded by mutex_
};

}  // namespace cuheap::apps
