// Arrays and copies from and to them as short words for tests. REQUIRES: the machine of machine.h.
#pragma once

#include <cuda.h>

#include <cstddef>

#include "tests/sim/tests/queued_work.h"

namespace cuheap::sim {

class WithArrays : public QueuedWork {
 protected:
  static CUDA_ARRAY3D_DESCRIPTOR Floats(std::size_t width, std::size_t height = 0,
                                        std::size_t depth = 0, unsigned flags = 0) {
    return {width, height, depth, CU_AD_FORMAT_FLOAT, 1, flags};
  }
  static CUarray NewArray(const CUDA_ARRAY3D_DESCRIPTOR& description) {
    CUarray array = nullptr;
    EXPECT_CUDA(cuArray3DCreate(&array, &description));
    return array;
  }
  // `width` in bytes.
  static CUDA_MEMCPY3D Box(std::size_t width, std::size_t height, std::size_t depth) {
    CUDA_MEMCPY3D box{};
    box.WidthInBytes = width;
    box.Height = height;
    box.Depth = depth;
    return box;
  }
  static CUDA_MEMCPY3D Upload(const void* from, CUarray to, std::size_t width, std::size_t height,
                              std::size_t depth) {
    CUDA_MEMCPY3D box = Box(width, height, depth);
    box.srcMemoryType = CU_MEMORYTYPE_HOST;
    box.srcHost = from;
    box.srcPitch = width;
    box.srcHeight = height;
    box.dstMemoryType = CU_MEMORYTYPE_ARRAY;
    box.dstArray = to;
    return box;
  }
  static CUDA_MEMCPY3D Download(CUarray from, void* to, std::size_t width, std::size_t height,
                                std::size_t depth) {
    CUDA_MEMCPY3D box = Box(width, height, depth);
    box.srcMemoryType = CU_MEMORYTYPE_ARRAY;
    box.srcArray = from;
    box.dstMemoryType = CU_MEMORYTYPE_HOST;
    box.dstHost = to;
    box.dstPitch = width;
    box.dstHeight = height;
    return box;
  }
};

}  // namespace cuheap::sim
