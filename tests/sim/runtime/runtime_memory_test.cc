// Memory through the runtime: what its functions document, and what they leave alone when they
// fail.
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

namespace {

constexpr std::size_t kHuge = SIZE_MAX;
constexpr std::size_t kRoot = std::size_t{1} << 32;  // its square is beyond 64 bits

template <class Pointer>
Pointer* Untouched() {
  return reinterpret_cast<Pointer*>(std::uintptr_t{7});
}

TEST(RuntimeMemoryTest, SizesBeyondEverythingAreRefusedAndOutputsLeftAlone) {
  void* pointer = Untouched<void>();
  std::size_t pitch = 7;
  EXPECT_EQ(cudaErrorMemoryAllocation, cudaMalloc(&pointer, kHuge));
  EXPECT_EQ(cudaErrorInvalidValue, cudaMallocPitch(&pointer, &pitch, kRoot, kRoot));
  EXPECT_EQ(cudaErrorInvalidValue, cudaMallocPitch(&pointer, &pitch, kHuge, 1));
  EXPECT_EQ(cudaErrorMemoryAllocation, cudaMallocHost(&pointer, kHuge));
  EXPECT_EQ(cudaErrorMemoryAllocation, cudaMallocManaged(&pointer, kHuge, cudaMemAttachGlobal));
  EXPECT_EQ(cudaErrorMemoryAllocation, cudaMallocAsync(&pointer, kHuge, nullptr));
  EXPECT_EQ(Untouched<void>(), pointer);
  EXPECT_EQ(7U, pitch);
  cudaPitchedPtr box{Untouched<void>(), 1, 2, 3};
  EXPECT_EQ(cudaErrorInvalidValue, cudaMalloc3D(&box, {1, kRoot, kRoot}));
  EXPECT_EQ(cudaErrorMemoryAllocation, cudaMalloc3D(&box, {1 << 20, 1 << 20, 1 << 20}));
  EXPECT_EQ(Untouched<void>(), box.ptr);
  EXPECT_EQ(1U, box.pitch);
  cudaGetLastError();
}

TEST(RuntimeMemoryTest, NothingIsANullPointerOrRefused) {
  void* pointer = Untouched<void>();
  std::size_t pitch = 7;
  EXPECT_EQ(cudaSuccess, cudaMalloc(&pointer, 0));
  EXPECT_EQ(nullptr, pointer);
  pointer = Untouched<void>();
  EXPECT_EQ(cudaSuccess, cudaMallocPitch(&pointer, &pitch, 0, 5));
  EXPECT_EQ(nullptr, pointer);
  EXPECT_EQ(cudaErrorInvalidValue, cudaMallocManaged(&pointer, 0, cudaMemAttachGlobal));
  EXPECT_EQ(cudaSuccess, cudaFree(nullptr));
  EXPECT_EQ(cudaSuccess, cudaFreeHost(nullptr));
  EXPECT_EQ(cudaErrorInvalidValue, cudaMalloc(nullptr, 100));
  EXPECT_EQ(cudaErrorInvalidValue, cudaMallocPitch(&pointer, nullptr, 1, 1));
  EXPECT_EQ(cudaErrorInvalidValue, cudaMalloc3D(nullptr, {1, 1, 1}));
  cudaGetLastError();
}

TEST(RuntimeMemoryTest, FlagsAreValidated) {
  void* pointer = Untouched<void>();
  EXPECT_EQ(cudaErrorInvalidValue, cudaHostAlloc(&pointer, 100, 0x40));
  EXPECT_EQ(cudaErrorInvalidValue, cudaMallocManaged(&pointer, 100, cudaMemAttachSingle));
  EXPECT_EQ(Untouched<void>(), pointer);
  std::vector<char> own(4096);
  EXPECT_EQ(cudaErrorInvalidValue, cudaHostRegister(own.data(), own.size(), 0x40));
  EXPECT_EQ(cudaErrorNotSupported,
            cudaHostRegister(own.data(), own.size(), cudaHostRegisterIoMemory));
  ASSERT_EQ(cudaSuccess, cudaHostRegister(own.data(), own.size(), cudaHostRegisterReadOnly));
  EXPECT_EQ(cudaErrorHostMemoryAlreadyRegistered, cudaHostRegister(own.data() + 8, 8, 0));
  EXPECT_EQ(cudaErrorHostMemoryNotRegistered, cudaHostUnregister(own.data() + 8));
  EXPECT_EQ(cudaSuccess, cudaHostUnregister(own.data()));
  EXPECT_EQ(cudaErrorHostMemoryNotRegistered, cudaHostUnregister(own.data()));
  cudaGetLastError();
}

TEST(RuntimeMemoryTest, PointersAreFreedOnceByTheirOwnFunction) {
  void* device = nullptr;
  void* pinned = nullptr;
  ASSERT_EQ(cudaSuccess, cudaMalloc(&device, 4096));
  ASSERT_EQ(cudaSuccess, cudaMallocHost(&pinned, 4096));
  EXPECT_EQ(cudaErrorInvalidValue, cudaFree(static_cast<char*>(device) + 512));
  EXPECT_EQ(cudaErrorInvalidValue, cudaFree(pinned));
  EXPECT_EQ(cudaErrorInvalidValue, cudaFreeHost(device));
  EXPECT_EQ(cudaSuccess, cudaFree(device));
  EXPECT_EQ(cudaErrorInvalidValue, cudaFree(device));
  EXPECT_EQ(cudaSuccess, cudaFreeHost(pinned));
  EXPECT_EQ(cudaErrorInvalidValue, cudaFreeHost(pinned));
  cudaGetLastError();
}

TEST(RuntimeMemoryTest, PointersOfEachKindAreTold) {
  struct Kind {
    void* pointer;
    cudaMemoryType type;
    bool on_host;
  };
  void* device = nullptr;
  void* pinned = nullptr;
  void* managed = nullptr;
  int local = 0;
  ASSERT_EQ(cudaSuccess, cudaMalloc(&device, 4096));
  ASSERT_EQ(cudaSuccess, cudaMallocHost(&pinned, 4096));
  ASSERT_EQ(cudaSuccess, cudaMallocManaged(&managed, 4096, cudaMemAttachGlobal));
  for (const Kind& kind :
       {Kind{device, cudaMemoryTypeDevice, false}, Kind{pinned, cudaMemoryTypeHost, true},
        Kind{managed, cudaMemoryTypeManaged, true},
        Kind{&local, cudaMemoryTypeUnregistered, true}}) {
    cudaPointerAttributes attributes{};
    ASSERT_EQ(cudaSuccess, cudaPointerGetAttributes(&attributes, kind.pointer));
    EXPECT_EQ(kind.type, attributes.type);
    EXPECT_EQ(kind.on_host ? kind.pointer : nullptr, attributes.hostPointer);
    const bool known = kind.type != cudaMemoryTypeUnregistered;
    EXPECT_EQ(known ? kind.pointer : nullptr, attributes.devicePointer);
  }
  EXPECT_EQ(cudaErrorInvalidValue, cudaPointerGetAttributes(nullptr, device));
  EXPECT_EQ(cudaSuccess, cudaFree(device));
  EXPECT_EQ(cudaSuccess, cudaFree(managed));
  EXPECT_EQ(cudaSuccess, cudaFreeHost(pinned));
  cudaGetLastError();
}

class BoxTest : public ::testing::Test {
 protected:
  static constexpr cudaExtent kAll{10, 4, 3};
  void SetUp() override {
    ASSERT_EQ(cudaSuccess, cudaMalloc3D(&box_, kAll));
    ASSERT_EQ(cudaSuccess, cudaMemset(box_.ptr, 0, Bytes()));
  }
  void TearDown() override { EXPECT_EQ(cudaSuccess, cudaFree(box_.ptr)); }

  std::size_t Bytes() const { return box_.pitch * kAll.height * kAll.depth; }
  // How many bytes have `value`.
  std::size_t Count(char value) const {
    std::vector<char> bytes(Bytes());
    EXPECT_EQ(cudaSuccess,
              cudaMemcpy(bytes.data(), box_.ptr, bytes.size(), cudaMemcpyDeviceToHost));
    std::size_t found = 0;
    for (const char byte : bytes) found += byte == value ? 1 : 0;
    return found;
  }

  cudaPitchedPtr box_{};
};

TEST_F(BoxTest, WholePlanesAndPartsAreSet) {
  ASSERT_EQ(cudaSuccess, cudaMemset3D(box_, 1, kAll));
  EXPECT_EQ(10U * 4 * 3, Count(1));
  ASSERT_EQ(cudaSuccess, cudaMemset3D(box_, 2, {5, 2, 2}));
  EXPECT_EQ(5U * 2 * 2, Count(2));
  ASSERT_EQ(cudaSuccess, cudaMemset3DAsync(box_, 3, {5, 3, 1}, nullptr));
  ASSERT_EQ(cudaSuccess, cudaDeviceSynchronize());
  EXPECT_EQ(5U * 3, Count(3));
}

TEST_F(BoxTest, BoxesThatLeaveTheMemorySetNothing) {
  EXPECT_EQ(cudaErrorInvalidValue, cudaMemset3D(box_, 1, {10, 3, 5}));
  EXPECT_EQ(cudaErrorInvalidValue, cudaMemset3D(box_, 1, {10, 5, 3}));
  EXPECT_EQ(cudaErrorInvalidValue, cudaMemset3D(box_, 1, {box_.pitch + 1, 4, 3}));
  EXPECT_EQ(cudaErrorInvalidValue, cudaMemset3D(box_, 1, {10, 4, SIZE_MAX}));
  EXPECT_EQ(cudaErrorInvalidValue, cudaMemset2D(box_.ptr, kRoot, 1, 10, kRoot));
  EXPECT_EQ(cudaErrorInvalidValue, cudaMemset2D(box_.ptr, 8, 1, 10, 2));
  EXPECT_EQ(0U, Count(1));
  EXPECT_EQ(cudaSuccess, cudaMemset3D(box_, 1, {0, 4, 3}));
  EXPECT_EQ(cudaSuccess, cudaMemset2D(box_.ptr, 8, 1, 0, 2));
  EXPECT_EQ(0U, Count(1));
  cudaGetLastError();
}

TEST(RuntimeManagedTest, AdviceIsReadBack) {
  void* managed = nullptr;
  ASSERT_EQ(cudaSuccess, cudaMallocManaged(&managed, 8192, cudaMemAttachGlobal));
  const cudaMemLocation device{cudaMemLocationTypeDevice, 0};
  ASSERT_EQ(cudaSuccess, cudaMemAdvise(managed, 8192, cudaMemAdviseSetPreferredLocation, device));
  ASSERT_EQ(cudaSuccess, cudaMemPrefetchAsync(managed, 8192, device, 0, nullptr));
  int preferred = 9;
  int prefetched = 9;
  void* data[] = {&preferred, &prefetched};
  std::size_t sizes[] = {4, 4};
  cudaMemRangeAttribute wanted[] = {cudaMemRangeAttributePreferredLocation,
                                    cudaMemRangeAttributeLastPrefetchLocation};
  ASSERT_EQ(cudaSuccess, cudaMemRangeGetAttributes(data, sizes, wanted, 2, managed, 8192));
  EXPECT_EQ(0, preferred);
  EXPECT_EQ(0, prefetched);
  EXPECT_EQ(cudaSuccess, cudaFree(managed));
}

}  // namespace
