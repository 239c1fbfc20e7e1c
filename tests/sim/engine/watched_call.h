// A call that takes the long way through the gate: refused before cuInit, failed by a rule
// (faults.h), preceded by what a seeded clock does meanwhile, charged (latency.h) and written down
// (call_log.h). The entry makes one on its stack:
//
//   WatchedCall call(function, symbol, arguments);
//   CUresult result = call.Begin(true);
//   if (result == CUDA_SUCCESS) result = (the function's work);
//   call.End(result);
#pragma once

#include <cuda.h>

#include <cstdint>
#include <span>

namespace cuheap::sim {

enum class DriverFunction : int;

// What the settings ask for begins: the log's file, the armed faults. Once a process, with its
// first call or the first wish of a test.
void BeginWatching();

// Null: nothing is asked. The answer goes into the log.
void AskAtCalls(int (*question)());

class WatchedCall {
 public:
  WatchedCall(DriverFunction function, const char* symbol, std::span<const std::uint64_t> arguments)
      : function_(function), symbol_(symbol), arguments_(arguments) {}

  // SUCCESS: do the work. Anything else is the result of the call.
  CUresult Begin(bool needs_initialisation);
  void End(CUresult result);

 private:
  void ChargeFor(CUresult result);
  void Log(CUresult result) const;

  DriverFunction function_;
  const char* symbol_;
  std::span<const std::uint64_t> arguments_;
  std::uint64_t start_ns_ = 0;
  std::uint64_t latency_ns_ = 0;
  std::uint64_t bytes_taken_before_ = 0;
  int answer_ = 0;
};

}  // namespace cuheap::sim
