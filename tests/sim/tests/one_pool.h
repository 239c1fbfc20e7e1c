// A pool of device 0 and a stream, as short words for tests of pools. Base: the machine, or more.
#pragma once

#include "tests/sim/tests/machine.h"

namespace cuheap::sim {

template <class Base>
class OnePool : public Base {
 protected:
  void SetUp() override {
    Base::SetUp();
    CUmemPoolProps properties{};
    properties.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
    ASSERT_CUDA(cuMemPoolCreate(&pool_, &properties));
    ASSERT_CUDA(cuStreamCreate(&stream_, CU_STREAM_NON_BLOCKING));
  }

  CUdeviceptr Take(std::size_t bytes) {
    CUdeviceptr block = 0;
    EXPECT_CUDA(cuMemAllocFromPoolAsync(&block, bytes, pool_, stream_));
    return block;
  }
  cuuint64_t Get(CUmemPool_attribute attribute) {
    cuuint64_t value = 0;
    EXPECT_CUDA(cuMemPoolGetAttribute(pool_, attribute, &value));
    return value;
  }

  CUmemoryPool pool_ = nullptr;
  CUstream stream_ = nullptr;
};

}  // namespace cuheap::sim
