// The last deaths with all that their records said, so that a free that failed can be taken back
// although the record has been reused. Threads: the caller serialises.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "allocator/base/ids.h"
#include "allocator/ledger/format.h"

namespace cuheap {

struct RecentDeath {
  RecordId id = RecordId::kNone;
  alignas(format::BlockRecord) std::byte copy[sizeof(format::BlockRecord)] = {};

  const format::BlockRecord& record() const {
    return *reinterpret_cast<const format::BlockRecord*>(copy);
  }
};

class RecentDeaths {
 public:
  // REQUIRES: still live in its record.
  void Remember(RecordId id, const format::BlockRecord& record) {
    RecentDeath& death = deaths_[next_];
    next_ = (next_ + 1) % kKept;
    death.id = id;
    std::memcpy(death.copy, static_cast<const void*>(&record), sizeof record);
  }

  // The latest death of that block, or nullptr when it was too long ago.
  RecentDeath* Find(format::Heap heap, Address address) {
    for (int back = 1; back <= kKept; ++back) {
      RecentDeath& death = deaths_[(next_ + kKept - back) % kKept];
      if (death.id != RecordId::kNone && death.record().heap == heap &&
          death.record().address == Value(address))
        return &death;
    }
    return nullptr;
  }

 private:
  // A free that fails is seen a driver call later; other threads go on meanwhile.
  static constexpr int kKept = 256;

  RecentDeath deaths_[kKept];
  int next_ = 0;
};

}  // namespace cuheap
