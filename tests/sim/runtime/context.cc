#include "tests/sim/runtime/context.h"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <mutex>

#include "tests/sim/runtime/driver.h"

namespace cuheap::sim_runtime {
namespace {

constexpr int kMaxDevices = 64;

struct ThreadState {
  int device = 0;
  std::uint64_t generation = 0;  // of the resets this thread has seen
};
thread_local ThreadState thread;

std::atomic<std::uint64_t> generation{0};
std::mutex primary_mutex;
CUcontext primary[kMaxDevices];  // guarded by primary_mutex; null: not retained

const Driver& Table() { return GetDriver(DefaultStream::kLegacy); }

CUresult DeviceCount(int* count) {
  static std::atomic<int> known{-1};
  *count = known;
  if (*count >= 0) return CUDA_SUCCESS;
  const CUresult result = Table().cuDeviceGetCount(count);
  if (result != CUDA_SUCCESS) return result;
  *count = std::min(*count, kMaxDevices);
  known = *count;
  return CUDA_SUCCESS;
}

CUresult Bind(int device) {
  CUcontext context = nullptr;
  CUresult result = PrimaryContext(device, &context);
  if (result != CUDA_SUCCESS) return result;
  thread.generation = generation.load(std::memory_order_acquire);
  return Table().cuCtxSetCurrent(context);
}

bool SawLastReset() { return thread.generation == generation.load(std::memory_order_acquire); }

// A context that is not the device's primary one.
bool IsOtherContextCurrent(int device) {
  CUcontext current = nullptr;
  CUcontext own = nullptr;
  return SawLastReset() && Table().cuCtxGetCurrent(&current) == CUDA_SUCCESS &&
         current != nullptr && PrimaryContext(device, &own) == CUDA_SUCCESS && current != own;
}

}  // namespace

CUresult EnsureContext() {
  if (CUresult status = DriverStatus(); status != CUDA_SUCCESS) return status;
  if (SawLastReset()) {
    CUcontext current = nullptr;
    CUresult result = Table().cuCtxGetCurrent(&current);
    if (result != CUDA_SUCCESS || current != nullptr) return result;
  }
  return Bind(thread.device);
}

CUresult CurrentDevice(int* device) {
  if (CUresult status = DriverStatus(); status != CUDA_SUCCESS) return status;
  CUcontext current = nullptr;
  const CUresult result = Table().cuCtxGetCurrent(&current);
  if (result != CUDA_SUCCESS) return result;
  if (SawLastReset() && current != nullptr) return Table().cuCtxGetDevice(device);
  *device = thread.device;
  return CUDA_SUCCESS;
}

CUresult CheckDevice(int device) {
  if (CUresult status = DriverStatus(); status != CUDA_SUCCESS) return status;
  int count = 0;
  if (CUresult result = DeviceCount(&count); result != CUDA_SUCCESS) return result;
  return device >= 0 && device < count ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}

CUresult SelectDevice(int device) {
  if (CUresult result = CheckDevice(device); result != CUDA_SUCCESS) return result;
  thread.device = device;
  return Bind(device);
}

CUresult PrimaryContext(int device, CUcontext* context) {
  if (CUresult result = CheckDevice(device); result != CUDA_SUCCESS) return result;
  const std::lock_guard<std::mutex> lock(primary_mutex);
  if (primary[device] == nullptr) {
    CUdevice handle = 0;
    CUresult result = Table().cuDeviceGet(&handle, device);
    if (result == CUDA_SUCCESS) result = Table().cuDevicePrimaryCtxRetain(&primary[device], handle);
    if (result != CUDA_SUCCESS) return result;
  }
  *context = primary[device];
  return CUDA_SUCCESS;
}

CUresult ResetDevice() {
  int device = 0;
  if (CUresult result = CurrentDevice(&device); result != CUDA_SUCCESS) {
    if (!IsBroken(static_cast<cudaError_t>(result))) return result;
    device = thread.device;
  }
  if (IsOtherContextCurrent(device)) return CUDA_SUCCESS;
  const std::lock_guard<std::mutex> lock(primary_mutex);
  Table().cuCtxSetCurrent(nullptr);
  thread.device = device;
  if (primary[device] != nullptr) {
    primary[device] = nullptr;
    Table().cuDevicePrimaryCtxRelease(device);
  }
  generation.fetch_add(1, std::memory_order_acq_rel);
  return Table().cuDevicePrimaryCtxReset(device);
}

bool IsBroken(cudaError_t error) {
  switch (error) {
    case cudaErrorIllegalAddress:
    case cudaErrorLaunchFailure:
    case cudaErrorLaunchTimeout:
    case cudaErrorHardwareStackError:
    case cudaErrorIllegalInstruction:
    case cudaErrorMisalignedAddress:
    case cudaErrorInvalidAddressSpace:
    case cudaErrorInvalidPc:
    case cudaErrorAssert:
    case cudaErrorECCUncorrectable:
      break;
    default:
      return false;
  }
  CUdevice device = 0;
  return SawLastReset() && static_cast<cudaError_t>(Table().cuCtxGetDevice(&device)) == error;
}

}  // namespace cuheap::sim_runtime
