// Bytes behind gzip.
//
// Laws: 1. Whatever the bytes, unpacking ends with bytes or an error. 2. What comes out is at most
// kMostUnpacked.
#pragma once

#include <string>
#include <string_view>

#include "allocator/base/bytes.h"
#include "tools/trace/result.h"

namespace cuheap::replay {

inline constexpr Bytes kMostUnpacked = 1_GiB;

bool IsPacked(std::string_view bytes);
Result<std::string> Unpacked(std::string_view bytes);
// Without a name and a time, so that equal texts give equal files.
std::string Packed(std::string_view text);

}  // namespace cuheap::replay
