#include "allocator/base/report_line.h"

#include <unistd.h>

#include <atomic>
#include <cstdarg>
#include <cstdio>

namespace cuheap {
namespace {

constinit std::atomic<bool> spent{false};

}  // namespace

void SetReportLines(ReportLines lines) { spent.store(lines == ReportLines::kOff); }

void ReportLine(const char* format, ...) {
  if (spent.exchange(true)) return;
  char text[512] = "cuheap: ";
  constexpr int kPrefix = 8;
  va_list arguments;
  va_start(arguments, format);
  int length = std::vsnprintf(text + kPrefix, 500 - kPrefix, format, arguments);
  va_end(arguments);
  if (length < 0) return;
  length = kPrefix + (length < 500 - kPrefix ? length : 499 - kPrefix);
  text[length++] = '\n';
  // The process may have closed descriptor 2; a failed write is nobody's problem but the reader's.
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, text, static_cast<size_t>(length));
}

}  // namespace cuheap
