// Finds accesses to the same memory that nothing orders, at the submission of the second one: what
// a GPU would silently corrupt, sometimes.
//
// A race is reported when
//   - one of two accesses writes and neither comes before the other in logical time;
//   - memory is used that was freed in a stream, and nothing orders the use before the free or
//     after the allocation that has the memory now;
//   - memory is unmapped or freed by the host while work that the host has not waited for uses it.
// Host memory is followed where the driver knows it: allocated or registered.
//
// Laws: 1. No report without a pair of calls that a program may be blamed for: what is ordered by
//          the documentation is ordered here.
//       2. Every pair of call stacks is reported once.
// Threads: callers hold the queue lock.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "tests/sim/engine/call_stack.h"
#include "tests/sim/engine/operation.h"
#include "tests/sim/engine/vector_clock.h"

namespace cuheap::sim {

enum class AccessKind { kRead, kWrite, kAllocation, kFree };

struct AccessRecord {
  AccessKind kind = AccessKind::kRead;
  Moment moment;
  StackId stack = 0;
  std::uint64_t stream_id = 0;
  std::string what;          // the operation
  bool for_waiting = false;  // a value that others may wait for: two of them are no race
};

class RaceOracle {
 public:
  // `clock` covers what comes before the access.
  void Touch(const TouchedRange& range, const AccessRecord& access, const VectorClock& clock);
  // Stream-ordered: the range begins to exist, or ends, with `access`.
  void Begin(std::uintptr_t base, std::uint64_t bytes, const AccessRecord& access);
  void End(std::uintptr_t base, std::uint64_t bytes, const AccessRecord& access,
           const VectorClock& clock);
  // Given back by the driver itself, when nobody uses it any more.
  void Erase(std::uintptr_t base, std::uint64_t bytes);
  // By the host: nobody may use the range who is not covered by what the host knows.
  void Forget(std::uintptr_t base, std::uint64_t bytes, const VectorClock& host);

 private:
  // What happened to a range since it was last written.
  struct Cell {
    std::uintptr_t end = 0;
    AccessRecord write;
    std::vector<AccessRecord> reads;
  };
  using Cells = std::map<std::uintptr_t, Cell>;

  // Makes `at` the beginning of a cell, if it lies inside one.
  void SplitAt(std::uintptr_t at);
  void Check(const Cell& cell, const TouchedRange& range, const AccessRecord& access,
             const VectorClock& clock);
  void CheckAll(const TouchedRange& range, const AccessRecord& access, const VectorClock& clock);
  void Replace(std::uintptr_t base, std::uint64_t bytes, const AccessRecord& write);

  Cells cells_;
};

}  // namespace cuheap::sim
