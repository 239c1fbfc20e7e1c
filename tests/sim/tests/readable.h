// What the kernel of the host says about an address, without touching it.
#pragma once

#include <cuda.h>
#include <gtest/gtest.h>
#include <unistd.h>

namespace cuheap::sim {

inline bool IsReadable(CUdeviceptr address) {
  int ends[2];
  EXPECT_EQ(0, pipe(ends));
  const bool readable = write(ends[1], reinterpret_cast<const void*>(address), 1) == 1;
  close(ends[0]);
  close(ends[1]);
  return readable;
}

}  // namespace cuheap::sim
