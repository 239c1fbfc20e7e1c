#include <cstring>

#include "tests/sim/tests/machine.h"

namespace cuheap::sim {
namespace {

using ManagedVariableTest = Machine;

TEST_F(ManagedVariableTest, AVariableBelongsToItsLibraryAndNotToAContext) {
  CUlibrary library = nullptr;
  ASSERT_CUDA(cuLibraryLoadData(&library, "image", nullptr, nullptr, 0, nullptr, nullptr, 0));
  CUdeviceptr address = 5;
  std::size_t bytes = 6;
  EXPECT_EQ(CUDA_ERROR_NOT_FOUND, cuLibraryGetManaged(&address, &bytes, library, "counter"));
  EXPECT_EQ(5U, address);
  EXPECT_EQ(0, cuheap_sim_declare_managed(library, "counter", 64));
  ASSERT_CUDA(cuLibraryGetManaged(&address, &bytes, library, "counter"));
  EXPECT_EQ(64U, bytes);
  std::memset(reinterpret_cast<void*>(address), 3, 64);
  unsigned managed = 0;
  ASSERT_CUDA(cuPointerGetAttribute(&managed, CU_POINTER_ATTRIBUTE_IS_MANAGED, address));
  EXPECT_EQ(1U, managed);
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemFree(address));
  CUdeviceptr again = 0;
  ASSERT_CUDA(cuLibraryGetManaged(&again, nullptr, library, "counter"));
  EXPECT_EQ(address, again);
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuLibraryGetManaged(nullptr, nullptr, library, "counter"));
  EXPECT_EQ(CUDA_ERROR_INVALID_HANDLE, cuLibraryGetManaged(&again, nullptr, nullptr, "counter"));
  void* function = nullptr;
  EXPECT_EQ(CUDA_ERROR_NOT_FOUND, cuLibraryGetUnifiedFunction(&function, library, "f"));
  EXPECT_CUDA(cuLibraryUnload(library));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE,
            cuPointerGetAttribute(&managed, CU_POINTER_ATTRIBUTE_IS_MANAGED, address));
}

}  // namespace
}  // namespace cuheap::sim
