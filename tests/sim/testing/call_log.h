// The driver calls that a test's code made, to assert on:
//
//   CallLog log;
//   pool.Allocate(kMiB);
//   EXPECT_EQ(1U, log.Count("cuMemAlloc"));
//   EXPECT_EQ(kMiB, log.Calls("cuMemAlloc")[0].arguments[1]);
//   const CallLog::Mark warm = log.Now();
//   pool.Allocate(kMiB);
//   EXPECT_EQ(0U, log.Since(warm).size()) << log.Since(warm);
//
// Calls of all threads, from the log's making to its end, in the order in which they returned. A
// process has one log, so one of these exists at a time. A name is a function's ("cuMemAlloc", any
// ABI) or an entry point's ("cuMemAlloc_v2").
#pragma once

#include <cuda.h>

#include <cstdint>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "tests/sim/engine/sim_api.h"

namespace cuheap::sim {

struct LoggedCall {
  std::string function;
  std::string symbol;
  std::vector<std::uint64_t> arguments;
  CUresult result = CUDA_SUCCESS;
  std::int64_t thread = 0;
  std::uint64_t start_ns = 0;
  std::uint64_t duration_ns = 0;
  std::uint64_t latency_ns = 0;
  int answer = 0;

  bool Is(std::string_view name) const { return name == function || name == symbol; }
};

class LoggedCalls : public std::vector<LoggedCall> {
 public:
  LoggedCalls Calls(std::string_view name) const {
    LoggedCalls chosen;
    for (const LoggedCall& call : *this) {
      if (call.Is(name)) chosen.push_back(call);
    }
    return chosen;
  }
  std::size_t Count(std::string_view name) const { return Calls(name).size(); }

  friend std::ostream& operator<<(std::ostream& out, const LoggedCalls& calls) {
    for (const LoggedCall& call : calls) {
      out << call.thread << ' ' << call.symbol << '(' << std::hex << std::showbase;
      const char* separator = "";
      for (const std::uint64_t argument : call.arguments) {
        out << separator << argument;
        separator = ", ";
      }
      out << std::dec << std::noshowbase << ") = " << call.result << '\n';
    }
    return out;
  }
};

class CallLog {
 public:
  using Mark = std::size_t;

  CallLog() {
    cuheap_sim_log_clear();
    cuheap_sim_log_start();
  }
  ~CallLog() { cuheap_sim_log_stop(); }
  CallLog(const CallLog&) = delete;
  CallLog& operator=(const CallLog&) = delete;

  Mark Now() const { return cuheap_sim_log_size(); }
  LoggedCalls Since(Mark mark) const {
    LoggedCalls calls;
    cuheap_sim_call entry{};
    for (Mark i = mark; cuheap_sim_log_read(i, &entry) == 0; ++i) {
      calls.push_back({entry.function,
                       entry.symbol,
                       {entry.arguments, entry.arguments + entry.argument_count},
                       static_cast<CUresult>(entry.result),
                       entry.thread,
                       entry.start_ns,
                       entry.duration_ns,
                       entry.latency_ns,
                       entry.answer});
    }
    return calls;
  }
  LoggedCalls All() const { return Since(0); }
  LoggedCalls Calls(std::string_view name) const { return All().Calls(name); }
  std::size_t Count(std::string_view name) const { return All().Count(name); }
};

}  // namespace cuheap::sim
