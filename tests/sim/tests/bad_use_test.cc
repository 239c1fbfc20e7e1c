// Misuse of each kind, and the code that is documented for it. Whatever is refused leaves outputs
// and the accounts of memory as they were.
#include <array>
#include <functional>
#include <vector>

#include "tests/sim/tests/machine.h"

namespace cuheap::sim {
namespace {

struct Misuse {
  const char* what;
  CUresult code;
  std::function<CUresult()> call;
};

constexpr auto kValue = CUDA_ERROR_INVALID_VALUE;
constexpr auto kHandle = CUDA_ERROR_INVALID_HANDLE;
constexpr auto kNoMemory = CUDA_ERROR_OUT_OF_MEMORY;

class BadUseTest : public Machine {
 protected:
  void SetUp() override {
    Machine::SetUp();
    block_ = Alloc(kMiB);
    ASSERT_CUDA(cuMemHostAlloc(&pinned_, 4096, 0));
    ASSERT_CUDA(cuStreamCreate(&stream_, CU_STREAM_NON_BLOCKING));
    ASSERT_CUDA(cuEventCreate(&event_, CU_EVENT_DISABLE_TIMING));
  }
  void TearDown() override {
    EXPECT_CUDA(cuMemFree(block_));
    EXPECT_CUDA(cuMemFreeHost(pinned_));
    Machine::TearDown();
  }

  static std::array<std::uint64_t, 2 * CUHEAP_SIM_KINDS + 1> Figures() {
    std::array<std::uint64_t, 2 * CUHEAP_SIM_KINDS + 1> figures{};
    for (int kind = 0; kind < CUHEAP_SIM_KINDS; ++kind) {
      figures[2 * static_cast<std::size_t>(kind)] = cuheap_sim_used(0, kind);
      figures[2 * static_cast<std::size_t>(kind) + 1] = cuheap_sim_live_bytes(0, kind);
    }
    figures.back() = cuheap_sim_pinned();
    return figures;
  }
  void Expect(const std::vector<Misuse>& misuses) {
    for (const Misuse& misuse : misuses) {
      const auto before = Figures();
      EXPECT_EQ(misuse.code, misuse.call()) << misuse.what;
      EXPECT_EQ(before, Figures()) << misuse.what;
      EXPECT_EQ(7U, out_) << misuse.what;
      EXPECT_EQ(7U, bytes_) << misuse.what;
    }
  }

  CUdeviceptr block_ = 0;
  void* pinned_ = nullptr;
  CUstream stream_ = nullptr;
  CUevent event_ = nullptr;
  CUdeviceptr out_ = 7;  // what no failed call writes
  std::size_t bytes_ = 7;
};

TEST_F(BadUseTest, NullOutputs) {
  const CUmemAllocationProp properties{CU_MEM_ALLOCATION_TYPE_PINNED,
                                       CU_MEM_HANDLE_TYPE_NONE,
                                       {CU_MEM_LOCATION_TYPE_DEVICE, 0},
                                       nullptr,
                                       {}};
  CUmemPoolProps pool{};
  pool.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
  pool.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
  CUmemLocation device{CU_MEM_LOCATION_TYPE_DEVICE, 0};
  CUmemoryPool standard = nullptr;
  ASSERT_CUDA(cuDeviceGetDefaultMemPool(&standard, 0));
  Expect({
      {"cuMemAlloc", kValue, [] { return cuMemAlloc(nullptr, 4096); }},
      {"cuMemAllocPitch", kValue, [&] { return cuMemAllocPitch(nullptr, &bytes_, 100, 4, 4); }},
      {"cuMemAllocPitch, pitch", kValue,
       [&] { return cuMemAllocPitch(&out_, nullptr, 100, 4, 4); }},
      {"cuMemAllocManaged", kValue,
       [] { return cuMemAllocManaged(nullptr, 4096, CU_MEM_ATTACH_GLOBAL); }},
      {"cuMemAllocHost", kValue, [] { return cuMemAllocHost(nullptr, 4096); }},
      {"cuMemHostAlloc", kValue, [] { return cuMemHostAlloc(nullptr, 4096, 0); }},
      {"cuMemHostGetDevicePointer", kValue,
       [&] { return cuMemHostGetDevicePointer(nullptr, pinned_, 0); }},
      {"cuMemHostGetFlags", kValue, [&] { return cuMemHostGetFlags(nullptr, pinned_); }},
      {"cuMemAllocAsync", kValue, [&] { return cuMemAllocAsync(nullptr, 4096, stream_); }},
      {"cuMemAllocFromPoolAsync", kValue,
       [&] { return cuMemAllocFromPoolAsync(nullptr, 4096, standard, stream_); }},
      {"cuMemPoolCreate", kValue, [&] { return cuMemPoolCreate(nullptr, &pool); }},
      {"cuMemPoolGetAttribute", kValue,
       [&] { return cuMemPoolGetAttribute(standard, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, nullptr); }},
      {"cuMemPoolSetAttribute", kValue,
       [&] { return cuMemPoolSetAttribute(standard, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, nullptr); }},
      {"cuMemPoolGetAccess", kValue,
       [&] { return cuMemPoolGetAccess(nullptr, standard, &device); }},
      {"cuDeviceGetDefaultMemPool", kValue, [] { return cuDeviceGetDefaultMemPool(nullptr, 0); }},
      {"cuDeviceGetMemPool", kValue, [] { return cuDeviceGetMemPool(nullptr, 0); }},
      {"cuMemGetMemPool", kValue,
       [&] { return cuMemGetMemPool(nullptr, &device, CU_MEM_ALLOCATION_TYPE_PINNED); }},
      {"cuMemAddressReserve", kValue,
       [] { return cuMemAddressReserve(nullptr, 2 * kMiB, 0, 0, 0); }},
      {"cuMemCreate", kValue, [&] { return cuMemCreate(nullptr, 2 * kMiB, &properties, 0); }},
      {"cuMemGetAllocationGranularity", kValue,
       [&] {
         return cuMemGetAllocationGranularity(nullptr, &properties,
                                              CU_MEM_ALLOC_GRANULARITY_MINIMUM);
       }},
      {"cuMemGetAccess", kValue, [&] { return cuMemGetAccess(nullptr, &device, block_); }},
      {"cuPointerGetAttribute", kValue,
       [&] { return cuPointerGetAttribute(nullptr, CU_POINTER_ATTRIBUTE_BUFFER_ID, block_); }},
      {"cuStreamCreate", kValue, [] { return cuStreamCreate(nullptr, 0); }},
      {"cuEventCreate", kValue, [] { return cuEventCreate(nullptr, 0); }},
      {"cuGraphCreate", kValue, [] { return cuGraphCreate(nullptr, 0); }},
  });
}

TEST_F(BadUseTest, SizesOfNothing) {
  void* host = nullptr;
  Expect({
      {"cuMemAlloc", kValue, [&] { return cuMemAlloc(&out_, 0); }},
      {"cuMemAllocPitch, width", kValue, [&] { return cuMemAllocPitch(&out_, &bytes_, 0, 4, 4); }},
      {"cuMemAllocPitch, height", kValue,
       [&] { return cuMemAllocPitch(&out_, &bytes_, 100, 0, 4); }},
      {"cuMemAllocManaged", kValue,
       [&] { return cuMemAllocManaged(&out_, 0, CU_MEM_ATTACH_GLOBAL); }},
      {"cuMemHostAlloc", kValue, [&] { return cuMemHostAlloc(&host, 0, 0); }},
      {"cuMemAllocAsync", kValue, [&] { return cuMemAllocAsync(&out_, 0, stream_); }},
      {"cuMemAddressReserve", kValue, [&] { return cuMemAddressReserve(&out_, 0, 0, 0, 0); }},
      {"cuMemAddressFree", kValue, [&] { return cuMemAddressFree(block_, 0); }},
  });
  EXPECT_EQ(nullptr, host);
}

TEST_F(BadUseTest, SizesBeyondEverything) {
  void* host = nullptr;
  for (const std::size_t bytes :
       {SIZE_MAX, SIZE_MAX - 511, SIZE_MAX - 2 * kMiB + 2, SIZE_MAX / 2 + 1, 5 * kGiB}) {
    Expect({
        {"cuMemAlloc", kNoMemory, [&] { return cuMemAlloc(&out_, bytes); }},
        {"cuMemAllocAsync", kNoMemory, [&] { return cuMemAllocAsync(&out_, bytes, stream_); }},
        {"cuMemsetD8", kValue, [&] { return cuMemsetD8(block_, 0, bytes); }},
        {"cuMemsetD32", kValue, [&] { return cuMemsetD32(block_, 0, bytes); }},
        {"cuMemsetD32, wrapping", kValue, [&] { return cuMemsetD32(block_, 0, SIZE_MAX / 4 + 2); }},
        {"cuMemsetD2D8", kValue, [&] { return cuMemsetD2D8(block_, bytes, 0, 1, 8); }},
        {"cuMemsetD2D32", kValue, [&] { return cuMemsetD2D32(block_, 4096, 0, bytes, 2); }},
        {"cuMemcpyDtoD", kValue, [&] { return cuMemcpyDtoD(block_, block_, bytes); }},
    });
  }
  Expect({
      {"cuMemAllocPitch, width", kValue,
       [&] { return cuMemAllocPitch(&out_, &bytes_, SIZE_MAX, 2, 4); }},
      {"cuMemAllocPitch, product", kValue,
       [&] { return cuMemAllocPitch(&out_, &bytes_, 1ULL << 33, 1ULL << 33, 4); }},
      {"cuMemAllocManaged", kNoMemory,
       [&] { return cuMemAllocManaged(&out_, SIZE_MAX, CU_MEM_ATTACH_GLOBAL); }},
      {"cuMemHostAlloc", kNoMemory, [&] { return cuMemHostAlloc(&host, SIZE_MAX, 0); }},
  });
  EXPECT_EQ(nullptr, host);
}

TEST_F(BadUseTest, AddressesThatAreNotTheStartOfALiveBlock) {
  int local = 0;
  const auto on_stack = reinterpret_cast<CUdeviceptr>(&local);
  const auto pinned = reinterpret_cast<CUdeviceptr>(pinned_);
  const CUdeviceptr freed = Alloc(4 * kMiB);
  ASSERT_CUDA(cuMemFree(freed));
  Expect({
      {"double free", kValue, [&] { return cuMemFree(freed); }},
      {"double free in a stream", kValue, [&] { return cuMemFreeAsync(freed, stream_); }},
      {"interior pointer", kValue, [&] { return cuMemFree(block_ + 256); }},
      {"interior pointer in a stream", kValue,
       [&] { return cuMemFreeAsync(block_ + 256, stream_); }},
      {"pointer of the stack", kValue, [&] { return cuMemFree(on_stack); }},
      {"pinned memory as device's", kValue, [&] { return cuMemFree(pinned); }},
      {"pinned memory in a stream", kValue, [&] { return cuMemFreeAsync(pinned, stream_); }},
      {"device memory as pinned", kValue,
       [&] { return cuMemFreeHost(reinterpret_cast<void*>(block_)); }},
      {"interior of pinned memory", kValue,
       [&] { return cuMemFreeHost(static_cast<char*>(pinned_) + 64); }},
      {"the stack as pinned", kValue, [&] { return cuMemFreeHost(&local); }},
      {"the last address", kValue, [] { return cuMemFree(~CUdeviceptr{0}); }},
      {"range of a freed block", CUDA_ERROR_NOT_FOUND,
       [&] { return cuMemGetAddressRange(&out_, &bytes_, freed); }},
      {"range of the stack", CUDA_ERROR_NOT_FOUND,
       [&] { return cuMemGetAddressRange(&out_, &bytes_, on_stack); }},
      {"attribute of the stack", kValue,
       [&] { return cuPointerGetAttribute(&out_, CU_POINTER_ATTRIBUTE_DEVICE_POINTER, on_stack); }},
      {"setting a freed block", kValue, [&] { return cuMemsetD8(freed, 0, 1); }},
      {"setting past the end", kValue, [&] { return cuMemsetD8(block_ + kMiB - 1, 0, 2); }},
      {"setting null", kValue, [] { return cuMemsetD8(0, 0, 1); }},
      {"unaligned set", kValue, [&] { return cuMemsetD32(block_ + 2, 0, 1); }},
      {"copy from null", kValue, [&] { return cuMemcpyHtoD(block_, nullptr, 4); }},
      {"copy to null", kValue, [&] { return cuMemcpyDtoH(nullptr, block_, 4); }},
      {"copy of a freed block", kValue, [&] { return cuMemcpyDtoH(&local, freed, 4); }},
      {"mapping nothing", kValue, [&] { return cuMemMap(block_, 2 * kMiB, 0, 0, 0); }},
      {"unmapping linear memory", kValue, [&] { return cuMemUnmap(block_, kMiB); }},
      {"freeing linear addresses", kValue, [&] { return cuMemAddressFree(block_, kMiB); }},
  });
}

TEST_F(BadUseTest, HandlesThatAreDead) {
  CUstream stream = nullptr;
  CUevent event = nullptr;
  ASSERT_CUDA(cuStreamCreate(&stream, 0));
  ASSERT_CUDA(cuStreamDestroy(stream));
  ASSERT_CUDA(cuEventCreate(&event, 0));
  ASSERT_CUDA(cuEventDestroy(event));
  CUmemoryPool pool = nullptr;
  CUmemPoolProps properties{};
  properties.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
  ASSERT_CUDA(cuMemPoolCreate(&pool, &properties));
  ASSERT_CUDA(cuMemPoolDestroy(pool));
  Expect({
      {"allocation", kHandle, [&] { return cuMemAllocAsync(&out_, 64, stream); }},
      {"free", kHandle, [&] { return cuMemFreeAsync(block_, stream); }},
      {"set", kHandle, [&] { return cuMemsetD8Async(block_, 0, 4, stream); }},
      {"copy", kHandle, [&] { return cuMemcpyDtoDAsync(block_, block_ + 64, 4, stream); }},
      {"query of a stream", kHandle, [&] { return cuStreamQuery(stream); }},
      {"synchronisation", kHandle, [&] { return cuStreamSynchronize(stream); }},
      {"second destruction", kHandle, [&] { return cuStreamDestroy(stream); }},
      {"record in a dead stream", kHandle, [&] { return cuEventRecord(event_, stream); }},
      {"record of a dead event", kHandle, [&] { return cuEventRecord(event, stream_); }},
      {"wait for a dead event", kHandle, [&] { return cuStreamWaitEvent(stream_, event, 0); }},
      {"query of an event", kHandle, [&] { return cuEventQuery(event); }},
      {"synchronisation of an event", kHandle, [&] { return cuEventSynchronize(event); }},
      {"second destruction of an event", kHandle, [&] { return cuEventDestroy(event); }},
      {"dead pool", kValue, [&] { return cuMemAllocFromPoolAsync(&out_, 64, pool, stream_); }},
      {"dead pool trimmed", kValue, [&] { return cuMemPoolTrimTo(pool, 0); }},
      {"dead pool made current", kValue, [&] { return cuDeviceSetMemPool(0, pool); }},
      {"dead pool destroyed", kValue, [&] { return cuMemPoolDestroy(pool); }},
  });
}

TEST_F(BadUseTest, ThingsOfAnotherDevice) {
  CUcontext other = nullptr;
  ASSERT_CUDA(cuDevicePrimaryCtxRetain(&other, 1));
  ASSERT_CUDA(cuCtxSetCurrent(other));
  CUevent event = nullptr;
  ASSERT_CUDA(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
  CUmemoryPool pool = nullptr;
  ASSERT_CUDA(cuDeviceGetDefaultMemPool(&pool, 1));
  ASSERT_CUDA(cuCtxSetCurrent(context_));
  Expect({
      {"record of another context's event", kHandle, [&] { return cuEventRecord(event, stream_); }},
      {"another device's pool made current", kValue, [&] { return cuDeviceSetMemPool(0, pool); }},
      {"no such device", CUDA_ERROR_INVALID_DEVICE,
       [&] { return cuDeviceGetDefaultMemPool(&pool, 2); }},
  });
  EXPECT_CUDA(cuStreamWaitEvent(stream_, event, 0));  // that may be of any context
  EXPECT_CUDA(cuDevicePrimaryCtxReset(1));
}

TEST_F(BadUseTest, NoCurrentContext) {
  void* host = nullptr;
  ASSERT_CUDA(cuCtxSetCurrent(nullptr));
  constexpr auto kContext = CUDA_ERROR_INVALID_CONTEXT;
  Expect({
      {"cuMemAlloc", kContext, [&] { return cuMemAlloc(&out_, 64); }},
      {"cuMemAllocManaged", kContext,
       [&] { return cuMemAllocManaged(&out_, 64, CU_MEM_ATTACH_GLOBAL); }},
      {"cuMemHostAlloc", kContext, [&] { return cuMemHostAlloc(&host, 64, 0); }},
      {"cuMemHostRegister", kContext, [&] { return cuMemHostRegister(&host, 8, 0); }},
      {"cuMemFree", kContext, [&] { return cuMemFree(block_); }},
      {"cuMemFreeHost", kContext, [&] { return cuMemFreeHost(pinned_); }},
      {"cuMemGetInfo", kContext, [&] { return cuMemGetInfo(&bytes_, &bytes_); }},
      {"cuMemGetAddressRange", kContext,
       [&] { return cuMemGetAddressRange(&out_, &bytes_, block_); }},
      {"cuMemAllocAsync", kContext, [&] { return cuMemAllocAsync(&out_, 64, nullptr); }},
      {"cuMemFreeAsync", kContext, [&] { return cuMemFreeAsync(block_, nullptr); }},
      {"cuMemsetD8", kContext, [&] { return cuMemsetD8(block_, 0, 1); }},
      {"cuStreamCreate", kContext, [&] { return cuStreamCreate(&stream_, 0); }},
  });
  ASSERT_CUDA(cuCtxSetCurrent(context_));
}

TEST_F(BadUseTest, CallsThatACaptureCannotSee) {
  void* host = nullptr;
  constexpr auto kUnsupported = CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  const std::vector<Misuse> misuses{
      {"cuMemAlloc", kUnsupported, [&] { return cuMemAlloc(&out_, 64); }},
      {"cuMemFree", kUnsupported, [&] { return cuMemFree(block_); }},
      {"cuMemHostAlloc", kUnsupported, [&] { return cuMemHostAlloc(&host, 64, 0); }},
      {"cuMemFreeHost", kUnsupported, [&] { return cuMemFreeHost(pinned_); }},
      {"cuMemAllocManaged", kUnsupported,
       [&] { return cuMemAllocManaged(&out_, 64, CU_MEM_ATTACH_GLOBAL); }},
      {"cuCtxSynchronize", kUnsupported, [] { return cuCtxSynchronize(); }},
  };
  for (const Misuse& misuse : misuses) {
    ASSERT_CUDA(cuStreamBeginCapture(stream_, CU_STREAM_CAPTURE_MODE_GLOBAL));
    Expect({misuse});
    CUgraph graph = nullptr;
    EXPECT_EQ(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, cuStreamEndCapture(stream_, &graph));
  }
}

}  // namespace
}  // namespace cuheap::sim
