// A way to place blocks in memory of a driver: what a replay compares.
//
// Laws: 1. A block that was given is whole and its own until it is freed. 2. An allocation that
// fails leaves the blocks that live as they were. 3. Memory that a stream recorded as a user may
// still touch is not given out before that stream is past it. 4. reserved() is what the policy
// holds of the driver.
// Threads: none; one replay plays one policy.
//
// A further policy is a file that defines its maker, and a row in policies.def.
#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "allocator/driver/driver.h"
#include "tools/replay/op_stream.h"

namespace cuheap::replay {

class Policy {
 public:
  virtual ~Policy() = default;

  // False: out of memory, after everything that the policy does about it.
  [[nodiscard]] virtual bool Allocate(BlockNumber block, Bytes bytes, DeviceId device,
                                      StreamHandle stream) = 0;
  // REQUIRES of both: the block lives.
  virtual void Free(BlockNumber block) = 0;
  virtual void RecordUse(BlockNumber block, StreamHandle stream) = 0;

  virtual Bytes reserved() const = 0;  // on all devices
};

struct PolicyKind {
  const char* name;
  const char* what;
  std::unique_ptr<Policy> (*make)(Driver& driver);
};

std::span<const PolicyKind> Policies();
// Nullptr: there is none of that name.
const PolicyKind* FindPolicy(std::string_view name);

}  // namespace cuheap::replay
