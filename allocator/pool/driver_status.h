// The driver's words in the pool's.
#pragma once

#include "allocator/driver/driver.h"
#include "allocator/pool/status.h"

namespace cuheap::pool {

inline Status StatusOf(DriverStatus status) {
  switch (status.code) {
    case DriverCode::kSuccess:
      return {};
    case DriverCode::kOutOfMemory:
      return {Code::kOutOfMemory, status.cuda};
    case DriverCode::kInvalid:
      return {Code::kInvalid, status.cuda};
    case DriverCode::kCapturing:
      return {Code::kCapturing, status.cuda};
    case DriverCode::kGone:
      return {Code::kGone, status.cuda};
    case DriverCode::kNotReady:
    case DriverCode::kNotSupported:
    case DriverCode::kFailed:
      break;
  }
  return {Code::kFailed, status.cuda};
}

}  // namespace cuheap::pool
