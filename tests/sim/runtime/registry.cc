#include "tests/sim/runtime/registry.h"

#include <cuda_runtime_api.h>
#include <dlfcn.h>

#include <algorithm>
#include <mutex>
#include <shared_mutex>
#include <unordered_map>
#include <vector>

#include "tests/sim/runtime/driver.h"
#include "tests/sim/runtime/error.h"

namespace cuheap::sim_runtime {
namespace {

struct Variable {
  const char* name;
  std::size_t size;
};

struct Binary {
  const void* image = nullptr;
  CUlibrary library = nullptr;
  std::vector<Variable> variables;
};

struct Kernel {
  Binary* binary;
  const char* name;
  CUkernel handle = nullptr;  // null until first asked for
};

struct Global {
  Binary* binary;
  Variable variable;
};

struct Registry {
  std::shared_mutex mutex;  // guards all below and the binaries
  std::unordered_map<const void*, Kernel> kernels;
  std::unordered_map<const void*, Global> globals;
};

// Leaked on purpose: libraries unregister their code from exit handlers.
Registry& All() {
  static Registry& registry = *new Registry;
  return registry;
}

const Driver& Table() { return GetDriver(DefaultStream::kLegacy); }

// The images of this machine are made for real devices, and the simulated driver does not read
// them; so it is told of the variables that the host code registered, through a function that only
// it has.
void DeclareVariables(const Binary& binary) {
  using Declare = void (*)(void* module, const char* name, std::size_t bytes);
  static const auto declare = [] {
    void* driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
    return reinterpret_cast<Declare>(
        driver == nullptr ? nullptr : dlsym(driver, "cuheap_sim_declare_global"));
  }();
  if (declare == nullptr) return;
  for (const Variable& variable : binary.variables)
    declare(binary.library, variable.name, variable.size);
}

// REQUIRES: the registry's lock, exclusively.
CUresult Load(Binary* binary) {
  if (binary->library != nullptr) return CUDA_SUCCESS;
  if (CUresult status = DriverStatus(); status != CUDA_SUCCESS) return status;
  const CUresult result = Table().cuLibraryLoadData(&binary->library, binary->image, nullptr,
                                                    nullptr, 0, nullptr, nullptr, 0);
  if (result == CUDA_SUCCESS) DeclareVariables(*binary);
  return result;
}

CUresult LoadKernel(const void* stub, CUkernel* handle) {
  const std::lock_guard<std::shared_mutex> lock(All().mutex);
  Kernel& kernel = All().kernels.at(stub);
  CUresult result = Load(kernel.binary);
  if (result == CUDA_SUCCESS && kernel.handle == nullptr) {
    result = Table().cuLibraryGetKernel(&kernel.handle, kernel.binary->library, kernel.name);
  }
  *handle = kernel.handle;
  return result;
}

}  // namespace

CUresult KernelOf(const void* stub, CUkernel* kernel) {
  constexpr auto kUnknown = static_cast<CUresult>(cudaErrorInvalidDeviceFunction);
  if (stub == nullptr) return kUnknown;
  {
    const std::shared_lock<std::shared_mutex> lock(All().mutex);
    const auto found = All().kernels.find(stub);
    if (found == All().kernels.end()) {  // a cudaKernel_t may stand for a stub
      CUfunction function = nullptr;
      *kernel = reinterpret_cast<CUkernel>(const_cast<void*>(stub));
      if (DriverStatus() != CUDA_SUCCESS) return DriverStatus();
      return Table().cuKernelGetFunction(&function, *kernel) == CUDA_SUCCESS ? CUDA_SUCCESS
                                                                             : kUnknown;
    }
    *kernel = found->second.handle;
    if (*kernel != nullptr) return CUDA_SUCCESS;
  }
  return LoadKernel(stub, kernel);
}

const void* StubOf(CUkernel kernel) {
  const std::shared_lock<std::shared_mutex> lock(All().mutex);
  const auto found = std::find_if(All().kernels.begin(), All().kernels.end(),
                                  [&](const auto& one) { return one.second.handle == kernel; });
  return found == All().kernels.end() ? kernel : found->first;
}

CUresult FunctionOf(const void* stub, CUfunction* function) {
  CUkernel kernel = nullptr;
  const CUresult result = KernelOf(stub, &kernel);
  return result == CUDA_SUCCESS ? Table().cuKernelGetFunction(function, kernel) : result;
}

CUresult VariableOf(const void* symbol, CUdeviceptr* address, std::size_t* size) {
  const std::lock_guard<std::shared_mutex> lock(All().mutex);
  const auto found = All().globals.find(symbol);
  if (found == All().globals.end()) return static_cast<CUresult>(cudaErrorInvalidSymbol);
  const Global& global = found->second;
  const CUresult result = Load(global.binary);
  if (result != CUDA_SUCCESS) return result;
  return Table().cuLibraryGetGlobal(address, size, global.binary->library, global.variable.name);
}

}  // namespace cuheap::sim_runtime

using namespace cuheap::sim_runtime;

// The functions that compiled objects call (crt/host_runtime.h, declared nowhere without nvcc). A
// binary's handle is the address of its record.

extern "C" void** __cudaRegisterFatBinary(void* image) {
  auto* binary = new Binary;
  binary->image = image;
  return reinterpret_cast<void**>(binary);
}

extern "C" void __cudaRegisterFatBinaryEnd(void**) {}

// The code of a library that is being unloaded is forgotten, but its driver library stays: at exit
// the driver may be gone.
extern "C" void __cudaUnregisterFatBinary(void** handle) {
  const auto* binary = reinterpret_cast<const Binary*>(handle);
  const std::lock_guard<std::shared_mutex> lock(All().mutex);
  std::erase_if(All().kernels, [&](const auto& entry) { return entry.second.binary == binary; });
  std::erase_if(All().globals, [&](const auto& entry) { return entry.second.binary == binary; });
  delete binary;
}

extern "C" void __cudaRegisterFunction(void** handle, const char* stub, char*, const char* name,
                                       int, uint3*, uint3*, dim3*, dim3*, int*) {
  const std::lock_guard<std::shared_mutex> lock(All().mutex);
  All().kernels.insert({stub, Kernel{reinterpret_cast<Binary*>(handle), name}});
}

extern "C" void __cudaRegisterVar(void** handle, char* host, char*, const char* name, int,
                                  size_t size, int, int) {
  auto* binary = reinterpret_cast<Binary*>(handle);
  const std::lock_guard<std::shared_mutex> lock(All().mutex);
  All().globals.insert({host, Global{binary, {name, size}}});
  binary->variables.push_back({name, size});
}

extern "C" char __cudaInitModule(void**) { return 1; }

extern "C" cudaError_t __cudaGetKernel(cudaKernel_t* kernel, const void* stub) {
  return Record(KernelOf(stub, reinterpret_cast<CUkernel*>(kernel)));
}

extern "C" cudaError_t cudaGetKernel(cudaKernel_t* kernel, const void* stub) {
  return __cudaGetKernel(kernel, stub);
}
