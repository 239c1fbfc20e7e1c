// Writes traces for tests through the real ledger, with a clock that the test moves.
#pragma once

#include <cstdint>
#include <string>

#include "allocator/base/clock.h"
#include "allocator/ledger/ledger.h"
#include "tools/trace/trace.h"

namespace cuheap {

class ManualClock final : public Clock {
 public:
  std::uint64_t MonotonicNs() override { return now_; }
  std::uint64_t LateMonotonicNs() override { return now_; }
  std::uint64_t WallNs() override { return 1'800'000'000'000'000'000u + now_; }
  void Advance(std::uint64_t nanoseconds) { now_ += nanoseconds; }

 private:
  std::uint64_t now_ = 1'000'000'000;
};

// A folder that is removed with everything in it.
class TemporaryFolder {
 public:
  TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder();
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

struct PythonPlace {
  std::string file;
  std::string function;
  std::int32_t line;
};

class TraceMaker {
 public:
  explicit TraceMaker(std::uint64_t limit_bytes = 256u << 20,
                      format::Mode mode = format::Mode::kSummary);

  Ledger& ledger() { return ledger_; }
  ManualClock& clock() { return clock_; }
  std::string path() const { return folder_.path() + "/t.cuheap"; }
  const std::string& folder() const { return folder_.path(); }

  // A site with one Python frame.
  SiteId Site(format::Heap heap, const PythonPlace& place);
  RecordId Alloc(format::Heap heap, std::uint64_t address, std::uint64_t bytes, SiteId site,
                 std::uint8_t flags = 0, std::uint8_t device = 0);
  void Free(format::Heap heap, std::uint64_t address);
  // One step of the program's own clock, a millisecond long.
  void Step();

  // Closes the file and reads it. Fails the test if it cannot be read.
  trace::Trace Finish();
  // Reads it as it is.
  trace::Trace Read() const;

 private:
  TemporaryFolder folder_;
  ManualClock clock_;
  Ledger ledger_;
};

std::string ReadBytes(const std::string& path);
void WriteBytes(const std::string& path, const std::string& bytes);

}  // namespace cuheap
