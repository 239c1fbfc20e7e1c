// What processes that share an event know of it: how often it was recorded, by whom last, and how
// far the work before its records is done. It lies in the control block.
//
// Laws: 1. Records are numbered in the order of the calls, over all processes.
//       2. What a process recorded and did not reach counts as reached once the process is gone.
//       3. An entry is in use as long as a process holds it.
// Threads: any. Only making and opening take the engine's lock, so that those who wait may ask, and
// the last one may let go, under the queue lock.
#pragma once

#include <cuda.h>

#include <cstdint>
#include <memory>

namespace cuheap::sim {

class SharedEvent {
 public:
  SharedEvent(int index, std::uint64_t serial);
  ~SharedEvent();
  SharedEvent(const SharedEvent&) = delete;
  SharedEvent& operator=(const SharedEvent&) = delete;

  // The number of a new record.
  std::uint64_t Record();
  void Reach(std::uint64_t record);
  std::uint64_t Latest() const;  // 0: never recorded
  bool HasReached(std::uint64_t record) const;
  bool WasRecordedHere() const;  // the latest one
  // Polls until the record is reached.
  void WaitUntil(std::uint64_t record) const;
  CUipcEventHandle Handle() const;

 private:
  const int index_;
  const std::uint64_t serial_;
};

using SharedEventPtr = std::shared_ptr<SharedEvent>;

// null: there are too many.
SharedEventPtr NewSharedEvent();
// INVALID_CONTEXT: made by this very process. INVALID_HANDLE: no such event.
CUresult OpenSharedEvent(const CUipcEventHandle& handle, SharedEventPtr* out);

}  // namespace cuheap::sim
