// How a call of the pool can end.
#pragma once

#include <cstdint>

namespace cuheap::pool {

enum class Code : std::uint8_t {
  kOk,
  kOutOfMemory,  // everything that could help was tried
  kInvalid,      // a size, alignment, device or stream that cannot be
  kForeign,      // no block of this pool begins at that address
  kNotLive,      // the block was freed before
  kCapturing,    // needs what a capture forbids
  kGone,         // the driver is unloading, or this is a forked child
  kFailed,       // the driver refused for another reason
};

struct [[nodiscard]] Status {
  Code code = Code::kOk;
  std::int32_t cuda = 0;  // CUresult where the driver had a word in it

  bool ok() const { return code == Code::kOk; }
  friend bool operator==(Status, Status) = default;
};

}  // namespace cuheap::pool
