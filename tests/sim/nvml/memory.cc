// How much memory is used, and by which processes.
#include <unistd.h>

#include <vector>

#include "tests/sim/engine/control_block.h"
#include "tests/sim/engine/device_memory.h"
#include "tests/sim/engine/engine_lock.h"
#include "tests/sim/engine/settings.h"
#include "tests/sim/nvml/handles.h"

using namespace cuheap::sim_nvml;

namespace {

// Containers, and devices that are cut into instances, do not tell everything.
nvmlReturn_t DeviceThatTells(nvmlDevice_t handle, int* device) {
  using Answer = cuheap::sim::Settings::Nvml;
  if (nvmlReturn_t result = DeviceOf(handle, device); result != NVML_SUCCESS) return result;
  switch (cuheap::sim::TheSettings().nvml) {
    case Answer::kFull:
      return NVML_SUCCESS;
    case Answer::kNoPermission:
      return NVML_ERROR_NO_PERMISSION;
    case Answer::kNotSupported:
      return NVML_ERROR_NOT_SUPPORTED;
  }
  return NVML_ERROR_UNKNOWN;
}

struct ProcessUse {
  unsigned int pid;
  unsigned long long bytes;
};

// Processes that hold pages of the device, with what they hold.
std::vector<ProcessUse> ProcessesOn(int device) {
  const cuheap::sim::EngineLock engine;
  const cuheap::sim::ControlLock control;
  const cuheap::sim::ControlBlock& block = cuheap::sim::TheControlBlock();
  const cuheap::sim::PageTable& table = block.tables[device];
  unsigned long long pages[cuheap::sim::kMaxProcesses] = {};
  for (std::uint32_t page = 0; page < table.pages; ++page) {
    const std::uint16_t owner = table.owner[page];
    if (owner != 0 && owner <= cuheap::sim::kMaxProcesses) ++pages[owner - 1];
  }
  std::vector<ProcessUse> processes;
  for (int slot = 0; slot < cuheap::sim::kMaxProcesses; ++slot) {
    if (pages[slot] == 0) continue;
    processes.push_back({static_cast<unsigned int>(block.processes[slot].pid),
                         pages[slot] * cuheap::sim::kPageBytes});
  }
  return processes;
}

// The protocol of all process queries: the count says how many fit and how many there are.
template <typename Info, typename Fill>
nvmlReturn_t ListProcesses(nvmlDevice_t handle, unsigned int* count, Info* infos, Fill&& fill) {
  int device = 0;
  if (nvmlReturn_t result = DeviceThatTells(handle, &device); result != NVML_SUCCESS) return result;
  const std::vector<ProcessUse> processes = ProcessesOn(device);
  const unsigned int room = *count;
  *count = static_cast<unsigned int>(processes.size());
  if (room < *count) return NVML_ERROR_INSUFFICIENT_SIZE;
  for (unsigned int i = 0; i < *count; ++i) fill(processes[i], &infos[i]);
  return NVML_SUCCESS;
}

constexpr unsigned int kNoInstance = 0xFFFFFFFF;

nvmlReturn_t ListWithInstances(nvmlDevice_t handle, unsigned int* count,
                               nvmlProcessInfo_v2_t* infos) {
  return ListProcesses(handle, count, infos,
                       [](const ProcessUse& process, nvmlProcessInfo_v2_t* info) {
                         *info = {process.pid, process.bytes, kNoInstance, kNoInstance};
                       });
}

struct Use {
  unsigned long long total;
  unsigned long long free;
};

nvmlReturn_t UseOf(nvmlDevice_t handle, Use* use) {
  int device = 0;
  if (nvmlReturn_t result = DeviceThatTells(handle, &device); result != NVML_SUCCESS) return result;
  const cuheap::sim::EngineLock engine;
  *use = {cuheap::sim::DeviceCapacity(device), cuheap::sim::FreeBytes(device)};
  return NVML_SUCCESS;
}

}  // namespace

extern "C" nvmlReturn_t nvmlDeviceGetMemoryInfo(nvmlDevice_t handle, nvmlMemory_t* memory) {
  Use use{};
  if (nvmlReturn_t result = UseOf(handle, &use); result != NVML_SUCCESS) return result;
  *memory = {use.total, use.free, use.total - use.free};
  return NVML_SUCCESS;
}

extern "C" nvmlReturn_t nvmlDeviceGetMemoryInfo_v2(nvmlDevice_t handle, nvmlMemory_v2_t* memory) {
  if (memory->version != nvmlMemory_v2) return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
  Use use{};
  if (nvmlReturn_t result = UseOf(handle, &use); result != NVML_SUCCESS) return result;
  *memory = {memory->version, use.total, 0, use.free, use.total - use.free};
  return NVML_SUCCESS;
}

extern "C" nvmlReturn_t nvmlDeviceGetComputeRunningProcesses(nvmlDevice_t handle,
                                                             unsigned int* count,
                                                             nvmlProcessInfo_v1_t* infos) {
  return ListProcesses(handle, count, infos,
                       [](const ProcessUse& process, nvmlProcessInfo_v1_t* info) {
                         *info = {process.pid, process.bytes};
                       });
}

extern "C" nvmlReturn_t nvmlDeviceGetComputeRunningProcesses_v2(nvmlDevice_t handle,
                                                                unsigned int* count,
                                                                nvmlProcessInfo_v2_t* infos) {
  return ListWithInstances(handle, count, infos);
}

extern "C" nvmlReturn_t nvmlDeviceGetComputeRunningProcesses_v3(nvmlDevice_t handle,
                                                                unsigned int* count,
                                                                nvmlProcessInfo_t* infos) {
  return ListWithInstances(handle, count, infos);
}
