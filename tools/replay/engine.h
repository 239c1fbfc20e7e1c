// Plays an OpStream against a policy on the accounting driver, and measures.
//
// Laws: 1. A play ends at its first allocation that fails. 2. Equal streams, policies and
// capacities give equal results. 3. Figures of memory are the driver's own, not the policy's.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "allocator/driver/driver_call.h"
#include "tools/replay/op_stream.h"
#include "tools/replay/policy.h"

namespace cuheap::replay {

struct CallAccount {
  std::uint64_t calls = 0;
  std::uint64_t nanoseconds = 0;  // by the model of allocator/driver/latency.h
};

struct Failure {
  std::size_t op = 0;  // from 0
  Op request{};
  Bytes live{};      // asked for on that device, before
  Bytes reserved{};  // on that device
};

struct Outcome {
  std::optional<Failure> failure;
  std::vector<Bytes> peak_reserved;  // by device
  std::array<CallAccount, kDriverCalls> calls;

  bool completed() const { return !failure.has_value(); }
};

// On devices of that capacity each. REQUIRES: the stream keeps its laws.
Outcome Play(const OpStream& stream, const PolicyKind& policy, Bytes capacity);

struct Smallest {
  std::optional<Bytes> capacity;  // none: not even the largest that was tried completes
  Outcome outcome;                // there
  int plays = 0;
};

// `at_enough`: the outcome of a play at `enough`. The smallest capacity at which the stream
// completes, found by halving between the peak of live bytes, below which nothing can, and
// `enough`: it completes, 2 MiB less does not. (A policy need not be monotonous: that some smaller
// capacity completes too is not excluded.)
Smallest FindSmallestCapacity(const OpStream& stream, const PolicyKind& policy, Bytes enough,
                              const Outcome& at_enough);

// What a device has where nobody says it: 80 GiB, or twice the peak if that is more.
Bytes DefaultCapacity(const OpFigures& figures);

}  // namespace cuheap::replay
