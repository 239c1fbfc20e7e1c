#include "hooks/preload/figures.h"

#include <cuda.h>

#include <algorithm>
#include <atomic>
#include <ctime>

#include "hooks/preload/call.h"

// cuda.h gives the newest ABI's name to the plain one; the text of that name is what is looked up.
#define CUHEAP_TEXT_OF(name) #name
#define CUHEAP_SYMBOL(name) CUHEAP_TEXT_OF(name)

namespace cuheap::preload {
namespace {

#define CUHEAP_QUESTIONS(X)                 \
  X(cuCtxGetDevice)                         \
  X(cuMemGetInfo)                           \
  X(cuDeviceGet)                            \
  X(cuDeviceGetUuid)                        \
  X(cuDeviceGetPCIBusId)                    \
  X(cuDeviceGetMemPool)                     \
  X(cuMemPoolGetAttribute)                  \
  X(cuPointerGetAttribute)                  \
  X(cuMemGetAllocationPropertiesFromHandle) \
  X(cuDevicePrimaryCtxGetState)             \
  X(cuDevicePrimaryCtxRetain)               \
  X(cuDevicePrimaryCtxRelease)              \
  X(cuCtxPushCurrent)                       \
  X(cuCtxPopCurrent)

struct Driver {
#define CUHEAP_MEMBER(name) decltype(&::name) ask_##name = nullptr;
  CUHEAP_QUESTIONS(CUHEAP_MEMBER)
#undef CUHEAP_MEMBER
};

constexpr int kMostDevices = 64;

constinit Driver driver;
constinit std::atomic<bool> driver_found{false};
constinit std::atomic<bool> stopped{false};
constinit std::atomic<int> captures{0};
constinit std::atomic<std::uint64_t> skipped{0};     // devices, one bit each
constinit std::atomic<std::uint64_t> introduced{0};  // devices whose identity was told
constinit std::atomic<std::uint64_t> spent_ns{0};
constinit std::atomic<std::uint64_t> first_ns{0};

std::uint64_t Now() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000u +
         static_cast<std::uint64_t>(now.tv_nsec);
}

bool MayAsk(std::uint64_t now) {
  constexpr std::uint64_t kBurst = 50'000'000;
  constexpr std::uint64_t kShare = 100;
  std::uint64_t first = 0;
  first_ns.compare_exchange_strong(first, now, std::memory_order_relaxed);
  const std::uint64_t elapsed = first == 0 ? 0 : now - first;
  return spent_ns.load(std::memory_order_relaxed) < kBurst + elapsed / kShare;
}

void Introduce(int device) {
  const std::uint64_t bit = std::uint64_t{1} << device;
  if ((introduced.fetch_or(bit, std::memory_order_relaxed) & bit) != 0) return;
  CUdevice handle = 0;
  CUuuid uuid{};
  char bus[16] = "";
  if (driver.ask_cuDeviceGet == nullptr || driver.ask_cuDeviceGet(&handle, device) != CUDA_SUCCESS)
    return;
  if (driver.ask_cuDeviceGetUuid != nullptr) driver.ask_cuDeviceGetUuid(&uuid, handle);
  if (driver.ask_cuDeviceGetPCIBusId != nullptr)
    driver.ask_cuDeviceGetPCIBusId(bus, sizeof bus, handle);
  Core().device_identity(static_cast<std::uint32_t>(device),
                         reinterpret_cast<const std::uint8_t*>(uuid.bytes), bus);
}

void AskPool(int device) {
  if (driver.ask_cuDeviceGetMemPool == nullptr || driver.ask_cuMemPoolGetAttribute == nullptr)
    return;
  CUmemoryPool pool = nullptr;
  std::uint64_t reserved = 0;
  std::uint64_t used = 0;
  if (driver.ask_cuDeviceGetMemPool(&pool, device) != CUDA_SUCCESS ||
      driver.ask_cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT, &reserved) !=
          CUDA_SUCCESS ||
      driver.ask_cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &used) !=
          CUDA_SUCCESS)
    return;
  Core().pool_sample(static_cast<std::uint32_t>(device), reserved, used);
}

// Makes a device current for a question. Another one than the present is entered by its primary
// context if that is in use: a question creates none.
class OnDevice {
 public:
  explicit OnDevice(int device) : device_(device), there_(CurrentDevice() == device) {
    if (!there_) Enter();
  }
  OnDevice(const OnDevice&) = delete;
  OnDevice& operator=(const OnDevice&) = delete;
  ~OnDevice() {
    CUcontext popped = nullptr;
    if (entered_) driver.ask_cuCtxPopCurrent(&popped);
    if (retained_) driver.ask_cuDevicePrimaryCtxRelease(device_);
  }
  explicit operator bool() const { return there_ || entered_; }

 private:
  void Enter() {
    unsigned flags = 0;
    int active = 0;
    CUcontext context = nullptr;
    if (driver.ask_cuDevicePrimaryCtxGetState == nullptr ||
        driver.ask_cuDevicePrimaryCtxRetain == nullptr ||
        driver.ask_cuDevicePrimaryCtxRelease == nullptr || driver.ask_cuCtxPushCurrent == nullptr ||
        driver.ask_cuCtxPopCurrent == nullptr ||
        driver.ask_cuDevicePrimaryCtxGetState(device_, &flags, &active) != CUDA_SUCCESS ||
        active == 0)
      return;
    retained_ = driver.ask_cuDevicePrimaryCtxRetain(&context, device_) == CUDA_SUCCESS;
    entered_ = retained_ && driver.ask_cuCtxPushCurrent(context) == CUDA_SUCCESS;
  }

  const int device_;
  const bool there_;
  bool retained_ = false;
  bool entered_ = false;
};

bool AskUsed(int device) {
  std::size_t free = 0;
  std::size_t total = 0;
  if (driver.ask_cuMemGetInfo == nullptr) return false;
  const OnDevice there(device);
  if (!there || driver.ask_cuMemGetInfo(&free, &total) != CUDA_SUCCESS) return false;
  Core().used_sample(static_cast<std::uint32_t>(device), total - std::min(free, total), total);
  return true;
}

}  // namespace

void FindDriverFigures() {
  if (driver_found.load(std::memory_order_acquire) || stopped.load(std::memory_order_relaxed))
    return;
  Driver found;
#define CUHEAP_FIND(name)                                          \
  found.ask_##name = reinterpret_cast<decltype(found.ask_##name)>( \
      FindLoaded("libcuda.so.1", CUHEAP_SYMBOL(name)));
  CUHEAP_QUESTIONS(CUHEAP_FIND)
#undef CUHEAP_FIND
  if (found.ask_cuCtxGetDevice == nullptr) return;
  static constinit std::atomic<bool> writing{false};
  if (writing.exchange(true, std::memory_order_acq_rel)) return;
  driver = found;
  driver_found.store(true, std::memory_order_release);
}

void StopDriverFigures() {
  stopped.store(true, std::memory_order_relaxed);
  driver_found.store(false, std::memory_order_release);
}

int CurrentDevice() {
  if (!driver_found.load(std::memory_order_acquire)) return -1;
  const Inside guard;
  CUdevice device = -1;
  return driver.ask_cuCtxGetDevice(&device) == CUDA_SUCCESS ? device : -1;
}

int DeviceOf(const void* address) {
  if (driver_found.load(std::memory_order_acquire) && driver.ask_cuPointerGetAttribute != nullptr &&
      !IsCapturing()) {
    const Inside guard;
    int device = -1;
    if (driver.ask_cuPointerGetAttribute(&device, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL,
                                         reinterpret_cast<CUdeviceptr>(address)) == CUDA_SUCCESS)
      return device;
  }
  return CurrentDevice();
}

int DeviceOfMemory(unsigned long long handle) {
  CUmemAllocationProp properties{};
  if (driver_found.load(std::memory_order_acquire) &&
      driver.ask_cuMemGetAllocationPropertiesFromHandle != nullptr && !IsCapturing()) {
    const Inside guard;
    if (driver.ask_cuMemGetAllocationPropertiesFromHandle(&properties, handle) == CUDA_SUCCESS)
      return properties.location.type == CU_MEM_LOCATION_TYPE_DEVICE ? properties.location.id : -1;
  }
  return CurrentDevice();
}

void MemoryChanged(int device, bool pool) {
  if (device < 0 || device >= kMostDevices || !driver_found.load(std::memory_order_acquire)) return;
  const std::uint64_t bit = std::uint64_t{1} << device;
  const std::uint64_t start = Now();
  if (IsCapturing() || !MayAsk(start)) {
    skipped.fetch_or(bit, std::memory_order_relaxed);
    return;
  }
  const Inside guard;
  Introduce(device);
  if (pool) AskPool(device);
  if (AskUsed(device))
    skipped.fetch_and(~bit, std::memory_order_relaxed);
  else
    skipped.fetch_or(bit, std::memory_order_relaxed);
  spent_ns.fetch_add(Now() - start, std::memory_order_relaxed);
}

void CatchUp() {
  const std::uint64_t waiting = skipped.load(std::memory_order_relaxed);
  if (waiting == 0) [[likely]]
    return;
  const int device = CurrentDevice();
  if (device >= 0 && device < kMostDevices && (waiting >> device & 1) != 0)
    MemoryChanged(device, true);
}

void CaptureBegan() { captures.fetch_add(1, std::memory_order_relaxed); }
void CaptureEnded() {
  int now = captures.load(std::memory_order_relaxed);
  while (now > 0 && !captures.compare_exchange_weak(now, now - 1, std::memory_order_relaxed)) {
  }
}
bool IsCapturing() { return captures.load(std::memory_order_relaxed) > 0; }

}  // namespace cuheap::preload
