#include "tests/sim/runtime/context.h"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <vector>

#include "tests/sim/runtime/driver.h"

namespace cuheap::sim_runtime {
namespace {

constexpr int kMaxDevices = 64;

constexpr int kNotChosen = -1;
constexpr auto kActive = static_cast<CUresult>(cudaErrorSetOnActiveProcess);

struct ThreadState {
  int device = kNotChosen;
  std::uint64_t generation = 0;  // of the resets this thread has seen
};
thread_local ThreadState thread;

std::atomic<std::uint64_t> generation{0};
std::mutex primary_mutex;
CUcontext primary[kMaxDevices];  // guarded by primary_mutex; null: not retained
std::mutex valid_mutex;
std::vector<int> valid;  // guarded by valid_mutex; empty: all devices

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

// The devices that work is tried on, in their order.
std::vector<int> ValidDevices() {
  const std::lock_guard<std::mutex> lock(valid_mutex);
  if (!valid.empty()) return valid;
  int count = 0;
  std::vector<int> all;
  if (DeviceCount(&count) != CUDA_SUCCESS) return all;
  for (int device = 0; device < count; ++device) all.push_back(device);
  return all;
}

// The device that the thread chose, else the one that would be tried first.
int DeviceOfThread() {
  if (thread.device != kNotChosen) return thread.device;
  const std::vector<int> devices = ValidDevices();
  return devices.empty() ? 0 : devices.front();
}

// Binds the thread to its device, else to the first that is available, which is then its own.
CUresult BindAny() {
  if (thread.device != kNotChosen) return Bind(thread.device);
  CUresult result = CUDA_ERROR_NO_DEVICE;
  for (const int device : ValidDevices()) {
    result = Bind(device);
    if (result == CUDA_SUCCESS) thread.device = device;
    if (result != CUDA_ERROR_DEVICE_UNAVAILABLE) break;
  }
  return result;
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
  return BindAny();
}

CUresult CurrentDevice(int* device) {
  if (CUresult status = DriverStatus(); status != CUDA_SUCCESS) return status;
  CUcontext current = nullptr;
  const CUresult result = Table().cuCtxGetCurrent(&current);
  if (result != CUDA_SUCCESS) return result;
  if (SawLastReset() && current != nullptr) return Table().cuCtxGetDevice(device);
  *device = DeviceOfThread();
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

CUresult SetValidDevices(const int* devices, int count) {
  if (CUresult status = DriverStatus(); status != CUDA_SUCCESS) return status;
  int existing = 0;
  CUcontext current = nullptr;
  CUresult result = DeviceCount(&existing);
  if (result != CUDA_SUCCESS) return result;
  if (count < 0 || count > existing || (count != 0 && devices == nullptr)) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  for (int i = 0; i < count; ++i) {
    if (devices[i] < 0 || devices[i] >= existing) return CUDA_ERROR_INVALID_DEVICE;
  }
  result = Table().cuCtxGetCurrent(&current);
  if (result != CUDA_SUCCESS) return result;
  if (SawLastReset() && current != nullptr) return kActive;
  const std::lock_guard<std::mutex> lock(valid_mutex);
  valid.assign(devices, devices + count);
  return CUDA_SUCCESS;
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
    device = DeviceOfThread();
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
