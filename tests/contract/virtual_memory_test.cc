// Virtual memory management, which the driver alone has.
#include <unistd.h>

#include "tests/contract/contract.h"

namespace cuheap::contract {

template <class Face>
class VirtualMemory : public Contract<Face> {
 protected:
  void SetUp() override {
    Contract<Face>::SetUp();
    ASSERT_EQ(CUDA_SUCCESS, Face::F().cuMemGetAllocationGranularity(
                                &granularity_, &properties_, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
  }
  static CUmemAllocationProp Properties() {
    CUmemAllocationProp properties{};
    properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
    properties.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    return properties;
  }
  CUmemGenericAllocationHandle Create(std::size_t bytes) {
    CUmemGenericAllocationHandle handle = 0;
    EXPECT_EQ(CUDA_SUCCESS, Face::F().cuMemCreate(&handle, bytes, &properties_, 0));
    return handle;
  }
  static CUdeviceptr Reserve(std::size_t bytes) {
    CUdeviceptr base = 0;
    EXPECT_EQ(CUDA_SUCCESS, Face::F().cuMemAddressReserve(&base, bytes, 0, 0, 0));
    return base;
  }
  static CUresult Allow(CUdeviceptr base, std::size_t bytes, CUmemAccess_flags flags) {
    const CUmemAccessDesc access{{CU_MEM_LOCATION_TYPE_DEVICE, 0}, flags};
    return Face::F().cuMemSetAccess(base, bytes, &access, 1);
  }

  const CUmemAllocationProp properties_ = Properties();
  std::size_t granularity_ = 0;
};
TYPED_TEST_SUITE(VirtualMemory, DriverFaces, NameOfFace);

TYPED_TEST(VirtualMemory, HoldsBytesOnceMappedAndAllowed) {
  const DriverFunctions& driver = TypeParam::F();
  const std::size_t bytes = 2 * this->granularity_;
  const CUdeviceptr base = this->Reserve(bytes);
  const CUmemGenericAllocationHandle handle = this->Create(bytes);
  ASSERT_EQ(CUDA_SUCCESS, driver.cuMemMap(base, bytes, 0, handle, 0));
  EXPECT_EQ(CUDA_SUCCESS, driver.cuMemRelease(handle)) << "the mapping holds the memory";
  ASSERT_EQ(CUDA_SUCCESS, this->Allow(base, bytes, CU_MEM_ACCESS_FLAGS_PROT_READWRITE));
  CUstream const stream = this->NewStream();
  void* const memory = reinterpret_cast<void*>(base);
  EXPECT_OK(TypeParam::MemsetAsync(memory, 8, 512, stream));
  EXPECT_EQ(std::vector<unsigned char>(512, 8), this->Bytes(memory, 512, stream));
  EXPECT_OK(TypeParam::StreamDestroy(stream));
  EXPECT_EQ(CUDA_SUCCESS, driver.cuMemUnmap(base, bytes));
  EXPECT_EQ(CUDA_SUCCESS, driver.cuMemAddressFree(base, bytes));
}

TYPED_TEST(VirtualMemory, TakesMultiplesOfTheGranularityOnly) {
  const DriverFunctions& driver = TypeParam::F();
  CUmemGenericAllocationHandle handle = 77;
  for (const std::size_t bytes : {std::size_t{0}, std::size_t{1}, this->granularity_ + 512}) {
    EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, driver.cuMemCreate(&handle, bytes, &this->properties_, 0));
  }
  EXPECT_EQ(77U, handle);
}

TYPED_TEST(VirtualMemory, MapsWhereNothingIsMapped) {
  const DriverFunctions& driver = TypeParam::F();
  const std::size_t bytes = this->granularity_;
  const CUdeviceptr base = this->Reserve(2 * bytes);
  const CUmemGenericAllocationHandle handle = this->Create(bytes);
  ASSERT_EQ(CUDA_SUCCESS, driver.cuMemMap(base, bytes, 0, handle, 0));
  EXPECT_NE(CUDA_SUCCESS, driver.cuMemMap(base, bytes, 0, handle, 0));
  EXPECT_EQ(CUDA_SUCCESS, driver.cuMemMap(base + bytes, bytes, 0, handle, 0))
      << "one handle may be mapped twice";
  EXPECT_NE(CUDA_SUCCESS, driver.cuMemAddressFree(base, 2 * bytes)) << "something is mapped";
  EXPECT_EQ(CUDA_SUCCESS, driver.cuMemUnmap(base, 2 * bytes)) << "two whole mappings";
  EXPECT_EQ(CUDA_SUCCESS, driver.cuMemRelease(handle));
  EXPECT_EQ(CUDA_SUCCESS, driver.cuMemAddressFree(base, 2 * bytes));
}

TYPED_TEST(VirtualMemory, UnmapsWholeMappingsOnly) {
  const DriverFunctions& driver = TypeParam::F();
  const std::size_t bytes = 2 * this->granularity_;
  const CUdeviceptr base = this->Reserve(bytes);
  const CUmemGenericAllocationHandle handle = this->Create(bytes);
  ASSERT_EQ(CUDA_SUCCESS, driver.cuMemMap(base, bytes, 0, handle, 0));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, driver.cuMemUnmap(base, this->granularity_));
  EXPECT_EQ(CUDA_SUCCESS, driver.cuMemUnmap(base, bytes));
  EXPECT_EQ(CUDA_SUCCESS, driver.cuMemRelease(handle));
  EXPECT_EQ(CUDA_SUCCESS, driver.cuMemAddressFree(base, bytes));
}

TYPED_TEST(VirtualMemory, IsCountedFromTheHandleToItsLastHolder) {
  const DriverFunctions& driver = TypeParam::F();
  const std::size_t before = this->FreeMemory();
  const std::size_t bytes = 32 * this->granularity_;
  const CUmemGenericAllocationHandle handle = this->Create(bytes);
  EXPECT_LE(this->FreeMemory(), before - bytes);
  const CUdeviceptr base = this->Reserve(bytes);
  ASSERT_EQ(CUDA_SUCCESS, driver.cuMemMap(base, bytes, 0, handle, 0));
  CUmemGenericAllocationHandle again = 0;
  ASSERT_EQ(CUDA_SUCCESS,
            driver.cuMemRetainAllocationHandle(&again, reinterpret_cast<void*>(base)));
  EXPECT_EQ(CUDA_SUCCESS, driver.cuMemRelease(handle));
  EXPECT_EQ(CUDA_SUCCESS, driver.cuMemUnmap(base, bytes));
  EXPECT_LE(this->FreeMemory(), before - bytes) << "retained";
  EXPECT_EQ(CUDA_SUCCESS, driver.cuMemRelease(again));
  EXPECT_EQ(before, this->FreeMemory());
  EXPECT_EQ(CUDA_SUCCESS, driver.cuMemAddressFree(base, bytes));
}

TYPED_TEST(VirtualMemory, TellsWhoMayAccessIt) {
  const DriverFunctions& driver = TypeParam::F();
  const std::size_t bytes = this->granularity_;
  const CUdeviceptr base = this->Reserve(bytes);
  const CUmemGenericAllocationHandle handle = this->Create(bytes);
  ASSERT_EQ(CUDA_SUCCESS, driver.cuMemMap(base, bytes, 0, handle, 0));
  const CUmemLocation here{CU_MEM_LOCATION_TYPE_DEVICE, 0};
  unsigned long long flags = 99;
  EXPECT_EQ(CUDA_SUCCESS, driver.cuMemGetAccess(&flags, &here, base));
  EXPECT_EQ(CU_MEM_ACCESS_FLAGS_PROT_NONE, flags);
  ASSERT_EQ(CUDA_SUCCESS, this->Allow(base, bytes, CU_MEM_ACCESS_FLAGS_PROT_READ));
  EXPECT_EQ(CUDA_SUCCESS, driver.cuMemGetAccess(&flags, &here, base));
  EXPECT_EQ(CU_MEM_ACCESS_FLAGS_PROT_READ, flags);
  EXPECT_EQ(CUDA_SUCCESS, driver.cuMemUnmap(base, bytes));
  EXPECT_EQ(CUDA_SUCCESS, driver.cuMemRelease(handle));
  EXPECT_EQ(CUDA_SUCCESS, driver.cuMemAddressFree(base, bytes));
}

TYPED_TEST(VirtualMemory, ComesBackFromItsDescriptor) {
  const DriverFunctions& driver = TypeParam::F();
  const CUmemGenericAllocationHandle handle = this->Create(this->granularity_);
  int descriptor = -1;
  ASSERT_EQ(CUDA_SUCCESS, driver.cuMemExportToShareableHandle(
                              &descriptor, handle, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
  CUmemGenericAllocationHandle imported = 0;
  // The descriptor itself is passed, as a pointer.
  EXPECT_EQ(CUDA_SUCCESS,
            driver.cuMemImportFromShareableHandle(
                &imported, reinterpret_cast<void*>(static_cast<std::uintptr_t>(descriptor)),
                CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR));
  close(descriptor);
  EXPECT_EQ(CUDA_SUCCESS, driver.cuMemRelease(imported));
  EXPECT_EQ(CUDA_SUCCESS, driver.cuMemRelease(handle));
}

}  // namespace cuheap::contract
