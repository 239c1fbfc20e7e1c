// A return code of either face. Codes of the driver and of the runtime that mean the same have the
// same number (cudaErrorInvalidValue is CUDA_ERROR_INVALID_VALUE), so tests name the driver's.
#pragma once

#include <cuda.h>

#include <iosfwd>
#include <string>

namespace cuheap::contract {

struct Code {
  int value = 0;

  bool ok() const { return value == CUDA_SUCCESS; }
  friend bool operator==(const Code&, const Code&) = default;
  friend bool operator==(const Code& a, CUresult b) { return a.value == static_cast<int>(b); }
};

// "CUDA_ERROR_INVALID_VALUE (1)"
std::string NameOf(Code code);
void PrintTo(const Code& code, std::ostream* stream);

}  // namespace cuheap::contract

#define EXPECT_CODE(code, call) \
  EXPECT_EQ((::cuheap::contract::Code{static_cast<int>(code)}), (call))
#define EXPECT_OK(call) EXPECT_CODE(CUDA_SUCCESS, call)
#define ASSERT_OK(call) ASSERT_EQ((::cuheap::contract::Code{CUDA_SUCCESS}), (call))
