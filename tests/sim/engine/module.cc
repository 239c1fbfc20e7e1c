#include "tests/sim/engine/module.h"

#include <algorithm>
#include <vector>

#include "tests/sim/engine/device.h"
#include "tests/sim/engine/device_memory.h"
#include "tests/sim/engine/engine_lock.h"
#include "tests/sim/engine/host_memory.h"

namespace cuheap::sim {
namespace {

constexpr int kThreadsPerBlock = 1024;
constexpr int kThreadsPerMultiprocessor = 2048;
constexpr int kBlocksPerMultiprocessor = 32;

}  // namespace

HandlePool<Module>& Modules() {
  static auto& pool = *new HandlePool<Module>;
  return pool;
}
HandlePool<Function>& Functions() {
  static auto& pool = *new HandlePool<Function>;
  return pool;
}

void UnloadModule(Module* module) {
  const EngineLock lock;
  for (const auto& [name, function] : module->functions) Functions().Delete(function);
  for (const auto& [name, global] : module->globals) {
    for (const auto& [context, address] : global.address_in) {
      const Allocation* block = FindAllocation(address);
      if (block != nullptr && block->type == AllocationType::kStatic &&
          block->context->id == context) {
        Discard(address);
      }
    }
  }
  for (const auto& [name, variable] : module->managed) {
    if (variable.address != 0) Discard(variable.address);
  }
  Modules().Delete(module);
}

void UnloadModulesOf(const Context* context) {
  std::vector<Module*> modules;
  Modules().ForEach([&](Module* module) {
    if (module->context == context) modules.push_back(module);
  });
  for (Module* module : modules) UnloadModule(module);
}

Function* FunctionOf(Module* module, const char* name) {
  const EngineLock lock;
  Function*& function = module->functions[name];
  if (function == nullptr) {
    function = Functions().New();
    function->name = name;
    function->module = module;
  }
  return function;
}

bool DeclareGlobal(Module* module, const char* name, std::uint64_t bytes) {
  if (bytes == 0) return false;
  const EngineLock lock;
  module->globals[name].bytes = bytes;
  return true;
}

bool DeclareManaged(Module* module, const char* name, std::uint64_t bytes) {
  if (bytes == 0) return false;
  const EngineLock lock;
  module->managed[name].bytes = bytes;
  return true;
}

CUresult AddressOfManaged(Module* module, const char* name, std::uintptr_t* out,
                          std::uint64_t* bytes) {
  const EngineLock lock;
  const auto found = module->managed.find(name);
  if (found == module->managed.end()) return CUDA_ERROR_NOT_FOUND;
  ManagedVariable& variable = found->second;
  if (variable.address == 0) {
    const CUresult result = AllocateManagedVariable(variable.bytes, &variable.address);
    if (result != CUDA_SUCCESS) return result;
  }
  *out = variable.address;
  *bytes = variable.bytes;
  return CUDA_SUCCESS;
}

CUresult AddressOfGlobal(Module* module, Context* context, const char* name, std::uintptr_t* out,
                         std::uint64_t* bytes) {
  const EngineLock lock;
  const auto found = module->globals.find(name);
  if (found == module->globals.end()) return CUDA_ERROR_NOT_FOUND;
  Global& global = found->second;
  std::uintptr_t& address = global.address_in[context->id];
  if (address == 0) {
    const CUresult result = AllocateLinear(context, global.bytes, &address, MemoryKind::kStatic);
    if (result != CUDA_SUCCESS) return result;
  }
  *out = address;
  *bytes = global.bytes;
  return CUDA_SUCCESS;
}

CUresult GetFunctionAttribute(const Function& function, CUfunction_attribute attribute, int* out) {
  const int architecture = TheSettings().capability.major * 10 + TheSettings().capability.minor;
  switch (attribute) {
    case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
      *out = kThreadsPerBlock;
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_NUM_REGS:
      *out = 32;
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_PTX_VERSION:
    case CU_FUNC_ATTRIBUTE_BINARY_VERSION:
      *out = architecture;
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
      *out = function.max_dynamic_shared;
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
      *out = function.carveout;
      return CUDA_SUCCESS;
    default:
      if (attribute < 0 || attribute >= CU_FUNC_ATTRIBUTE_MAX) return CUDA_ERROR_INVALID_VALUE;
      *out = 0;
      return CUDA_SUCCESS;
  }
}

CUresult SetFunctionAttribute(Function* function, CUfunction_attribute attribute, int value) {
  switch (attribute) {
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
      if (value < 0 || value > kMaxSharedPerBlock) return CUDA_ERROR_INVALID_VALUE;
      function->max_dynamic_shared = value;
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
      if (value < -1 || value > 100) return CUDA_ERROR_INVALID_VALUE;
      function->carveout = value;
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED:
    case CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
      return CUDA_SUCCESS;
    default:
      return CUDA_ERROR_INVALID_VALUE;
  }
}

int ResidentBlocks(int block_threads, std::size_t shared_bytes) {
  if (block_threads <= 0 || block_threads > kThreadsPerBlock) return 0;
  if (shared_bytes > static_cast<std::size_t>(kMaxSharedPerBlock)) return 0;
  int blocks = std::min(kBlocksPerMultiprocessor, kThreadsPerMultiprocessor / block_threads);
  if (shared_bytes > 0) {
    blocks = std::min(blocks, static_cast<int>(kMaxSharedPerBlock / shared_bytes));
  }
  return blocks;
}

CUresult CheckLaunch(const KernelOp& kernel, bool cooperative) {
  if (Functions().Find(kernel.function) == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  const auto& [gx, gy, gz] = kernel.grid;
  const auto& [bx, by, bz] = kernel.block;
  const bool empty = gx == 0 || gy == 0 || gz == 0 || bx == 0 || by == 0 || bz == 0;
  const bool large_grid = gx > 0x7FFFFFFF || gy > 65535 || gz > 65535;
  const bool large_block = bx > 1024 || by > 1024 || bz > 64 || bx * by * bz > kThreadsPerBlock;
  if (empty || large_grid || large_block) return CUDA_ERROR_INVALID_VALUE;
  if (kernel.shared_bytes > static_cast<unsigned>(kernel.function->max_dynamic_shared.load())) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  if (!cooperative) return CUDA_SUCCESS;
  const std::uint64_t blocks = std::uint64_t{gx} * gy * gz;
  const int resident = ResidentBlocks(static_cast<int>(bx * by * bz), kernel.shared_bytes);
  return blocks > static_cast<std::uint64_t>(resident * TheSettings().sms)
             ? CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE
             : CUDA_SUCCESS;
}

}  // namespace cuheap::sim
