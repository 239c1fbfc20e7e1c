#include "tests/sim/engine/call_log.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cinttypes>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <deque>

#include "tests/sim/engine/call_gate.h"
#include "tests/sim/engine/sim_api.h"
#include "tests/sim/engine/watch_lock.h"

namespace cuheap::sim {
namespace {

int log_file = -1;

// Guarded by the WatchLock.
std::deque<cuheap_sim_call>& Entries() {
  static auto& entries = *new std::deque<cuheap_sim_call>;
  return entries;
}

// Text of bounded length without allocation.
class Line {
 public:
  [[gnu::format(printf, 2, 3)]] void Add(const char* format, ...) {
    std::va_list values;
    va_start(values, format);
    const int wanted = std::vsnprintf(text_ + used_, sizeof(text_) - used_, format, values);
    va_end(values);
    if (wanted > 0) used_ = std::min(used_ + static_cast<std::size_t>(wanted), sizeof(text_) - 1);
  }
  // A log that cannot be written must not change what the program sees.
  void Write(int file) const { [[maybe_unused]] const ssize_t written = write(file, text_, used_); }

 private:
  char text_[640];  // a long name and the most arguments, each of 20 characters
  std::size_t used_ = 0;
};

void WriteLine(const cuheap_sim_call& call) {
  Line line;
  line.Add("%d %" PRId64 " %s(", getpid(), call.thread, call.symbol);
  for (unsigned i = 0; i < call.argument_count; ++i) {
    line.Add("%s%#" PRIx64, i == 0 ? "" : ", ", call.arguments[i]);
  }
  line.Add(") = %d %" PRIu64 " ns\n", call.result, call.duration_ns);
  line.Write(log_file);
}

}  // namespace

void OpenLogFile(const std::string& path) {
  if (path.empty()) return;
  log_file = open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (log_file >= 0) return SetGate(GateBit::kLogFile, true);
  std::fprintf(stderr, "cuheap-sim: CUHEAP_SIM_LOG: %s: %s\n", path.c_str(), std::strerror(errno));
}

void RecordCalls(bool on) { SetGate(GateBit::kRecording, on); }

void LogCall(const cuheap_sim_call& call) {
  if (GateHas(GateBit::kLogFile)) WriteLine(call);
  if (!GateHas(GateBit::kRecording)) return;
  const WatchLock lock;
  Entries().push_back(call);
}

void ForgetCalls() {
  const WatchLock lock;
  Entries().clear();
}

std::size_t CallsRecorded() {
  const WatchLock lock;
  return Entries().size();
}

bool ReadCall(std::size_t index, cuheap_sim_call* out) {
  const WatchLock lock;
  if (index >= Entries().size()) return false;
  *out = Entries()[index];
  return true;
}

}  // namespace cuheap::sim
