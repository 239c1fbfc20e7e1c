// Modules, libraries, kernels and functions.
#include "tests/sim/driver/support.h"
#include "tests/sim/engine/module.h"

namespace cuheap::sim {
namespace {

CUresult LoadModule(CUmodule* out, const void* image) {
  CUHEAP_SIM_TRY(NeedPointers(out, image));
  Context* context = nullptr;
  CUHEAP_SIM_TRY(CurrentContext(&context));
  const EngineLock lock;
  Module* module = Modules().New();
  module->context = RootOf(context);
  *out = Cast<CUmodule>(module);
  return CUDA_SUCCESS;
}

CUresult LoadLibrary(CUlibrary* out, const void* image) {
  CUHEAP_SIM_TRY(NeedPointers(out, image));
  const EngineLock lock;
  *out = Cast<CUlibrary>(Modules().New());
  return CUDA_SUCCESS;
}

CUresult ModuleOf(const void* handle, Module** out) {
  *out = Modules().Find(handle);
  return *out == nullptr ? CUDA_ERROR_INVALID_HANDLE : CUDA_SUCCESS;
}

CUresult FunctionOfHandle(const void* handle, Function** out) {
  *out = Functions().Find(handle);
  return *out == nullptr ? CUDA_ERROR_INVALID_HANDLE : CUDA_SUCCESS;
}

template <class Handle>
CUresult GetFunction(Handle* out, const void* module_handle, const char* name) {
  CUHEAP_SIM_TRY(NeedPointers(out, name));
  Module* module = nullptr;
  CUHEAP_SIM_TRY(ModuleOf(module_handle, &module));
  if (*name == 0) return CUDA_ERROR_NOT_FOUND;
  *out = Cast<Handle>(FunctionOf(module, name));
  return CUDA_SUCCESS;
}

CUresult Count(unsigned* count, const void* handle) {
  CUHEAP_SIM_TRY(NeedPointers(count));
  Module* module = nullptr;
  CUHEAP_SIM_TRY(ModuleOf(handle, &module));
  const EngineLock lock;
  *count = static_cast<unsigned>(module->functions.size());
  return CUDA_SUCCESS;
}

template <class Handle>
CUresult Enumerate(Handle* out, unsigned room, const void* handle) {
  CUHEAP_SIM_TRY(NeedPointers(out));
  Module* module = nullptr;
  CUHEAP_SIM_TRY(ModuleOf(handle, &module));
  const EngineLock lock;
  unsigned written = 0;
  for (const auto& [name, function] : module->functions) {
    if (written == room) break;
    out[written++] = Cast<Handle>(function);
  }
  return CUDA_SUCCESS;
}

CUresult GetGlobal(CUdeviceptr* out, size_t* bytes, const void* handle, const char* name) {
  CUHEAP_SIM_TRY(NeedPointers(name));
  Module* module = nullptr;
  CUHEAP_SIM_TRY(ModuleOf(handle, &module));
  Context* context = nullptr;
  CUHEAP_SIM_TRY(CurrentContext(&context));
  std::uintptr_t address = 0;
  std::uint64_t size = 0;
  CUHEAP_SIM_TRY(AddressOfGlobal(module, context, name, &address, &size));
  WriteIfAsked(out, address);
  WriteIfAsked(bytes, size);
  return CUDA_SUCCESS;
}

CUresult Unload(const void* handle) {
  Module* module = nullptr;
  CUHEAP_SIM_TRY(ModuleOf(handle, &module));
  UnloadModule(module);
  return CUDA_SUCCESS;
}

CUresult GetAttribute(int* out, CUfunction_attribute attribute, const void* handle) {
  CUHEAP_SIM_TRY(NeedPointers(out));
  Function* function = nullptr;
  CUHEAP_SIM_TRY(FunctionOfHandle(handle, &function));
  return GetFunctionAttribute(*function, attribute, out);
}

CUresult SetAttribute(const void* handle, CUfunction_attribute attribute, int value) {
  Function* function = nullptr;
  CUHEAP_SIM_TRY(FunctionOfHandle(handle, &function));
  return SetFunctionAttribute(function, attribute, value);
}

CUresult GetName(const char** out, const void* handle) {
  CUHEAP_SIM_TRY(NeedPointers(out));
  Function* function = nullptr;
  CUHEAP_SIM_TRY(FunctionOfHandle(handle, &function));
  *out = function->name.c_str();
  return CUDA_SUCCESS;
}

}  // namespace

CUresult face::ModuleLoad(CUmodule* out, const char* path) { return LoadModule(out, path); }
CUresult face::ModuleLoadData(CUmodule* out, const void* image) { return LoadModule(out, image); }
CUresult face::ModuleLoadDataEx(CUmodule* out, const void* image, unsigned, CUjit_option*, void**) {
  return ModuleLoadData(out, image);
}
CUresult face::ModuleLoadFatBinary(CUmodule* out, const void* image) {
  return ModuleLoadData(out, image);
}
CUresult face::ModuleUnload(CUmodule module) { return Unload(module); }
CUresult face::ModuleGetLoadingMode(CUmoduleLoadingMode* mode) {
  CUHEAP_SIM_TRY(NeedPointers(mode));
  *mode = CU_MODULE_LAZY_LOADING;
  return CUDA_SUCCESS;
}
CUresult face::ModuleGetFunction(CUfunction* out, CUmodule module, const char* name) {
  return GetFunction(out, module, name);
}
CUresult face::ModuleGetFunctionCount(unsigned* count, CUmodule module) {
  return Count(count, module);
}
CUresult face::ModuleEnumerateFunctions(CUfunction* out, unsigned room, CUmodule module) {
  return Enumerate(out, room, module);
}
CUresult face::ModuleGetGlobal_v2(CUdeviceptr* out, size_t* bytes, CUmodule module,
                                  const char* name) {
  return GetGlobal(out, bytes, module, name);
}

CUresult face::LibraryLoadData(CUlibrary* out, const void* code, CUjit_option*, void**, unsigned,
                               CUlibraryOption*, void**, unsigned) {
  return LoadLibrary(out, code);
}
CUresult face::LibraryLoadFromFile(CUlibrary* out, const char* path, CUjit_option*, void**,
                                   unsigned, CUlibraryOption*, void**, unsigned) {
  return LoadLibrary(out, path);
}
CUresult face::LibraryUnload(CUlibrary library) { return Unload(library); }
CUresult face::LibraryGetKernel(CUkernel* out, CUlibrary library, const char* name) {
  return GetFunction(out, library, name);
}
CUresult face::LibraryGetKernelCount(unsigned* count, CUlibrary library) {
  return Count(count, library);
}
CUresult face::LibraryEnumerateKernels(CUkernel* out, unsigned room, CUlibrary library) {
  return Enumerate(out, room, library);
}
CUresult face::LibraryGetModule(CUmodule* out, CUlibrary library) {
  CUHEAP_SIM_TRY(NeedPointers(out));
  CUHEAP_SIM_TRY(NeedContext());
  Module* module = nullptr;
  CUHEAP_SIM_TRY(ModuleOf(library, &module));
  *out = Cast<CUmodule>(module);
  return CUDA_SUCCESS;
}
CUresult face::LibraryGetGlobal(CUdeviceptr* out, size_t* bytes, CUlibrary library,
                                const char* name) {
  return GetGlobal(out, bytes, library, name);
}

// PARTIAL: images are not read, so that a library has the variables that a test declared.
CUresult face::LibraryGetManaged(CUdeviceptr* out, size_t* bytes, CUlibrary library,
                                 const char* name) {
  CUHEAP_SIM_TRY(NeedPointers(name));
  if (out == nullptr && bytes == nullptr) return CUDA_ERROR_INVALID_VALUE;
  Module* module = nullptr;
  CUHEAP_SIM_TRY(ModuleOf(library, &module));
  std::uintptr_t address = 0;
  std::uint64_t size = 0;
  CUHEAP_SIM_TRY(AddressOfManaged(module, name, &address, &size));
  WriteIfAsked(out, address);
  WriteIfAsked(bytes, size);
  return CUDA_SUCCESS;
}
// PARTIAL: images are not read, so that no library has a unified function.
CUresult face::LibraryGetUnifiedFunction(void** out, CUlibrary library, const char* symbol) {
  CUHEAP_SIM_TRY(NeedPointers(out, symbol));
  Module* module = nullptr;
  CUHEAP_SIM_TRY(ModuleOf(library, &module));
  return CUDA_ERROR_NOT_FOUND;
}

CUresult face::KernelGetFunction(CUfunction* out, CUkernel kernel) {
  CUHEAP_SIM_TRY(NeedPointers(out));
  CUHEAP_SIM_TRY(NeedContext());
  Function* function = nullptr;
  CUHEAP_SIM_TRY(FunctionOfHandle(kernel, &function));
  *out = Cast<CUfunction>(function);
  return CUDA_SUCCESS;
}
CUresult face::KernelGetLibrary(CUlibrary* out, CUkernel kernel) {
  CUHEAP_SIM_TRY(NeedPointers(out));
  Function* function = nullptr;
  CUHEAP_SIM_TRY(FunctionOfHandle(kernel, &function));
  *out = Cast<CUlibrary>(function->module);
  return CUDA_SUCCESS;
}
CUresult face::KernelGetName(const char** out, CUkernel kernel) { return GetName(out, kernel); }
CUresult face::KernelGetAttribute(int* out, CUfunction_attribute attribute, CUkernel kernel,
                                  CUdevice device) {
  CUHEAP_SIM_TRY(NeedDevice(device));
  return GetAttribute(out, attribute, kernel);
}
CUresult face::KernelSetAttribute(CUfunction_attribute attribute, int value, CUkernel kernel,
                                  CUdevice device) {
  CUHEAP_SIM_TRY(NeedDevice(device));
  return SetAttribute(kernel, attribute, value);
}
CUresult face::KernelSetCacheConfig(CUkernel kernel, CUfunc_cache, CUdevice) {
  Function* function = nullptr;
  return FunctionOfHandle(kernel, &function);
}

CUresult face::FuncGetAttribute(int* out, CUfunction_attribute attribute, CUfunction function) {
  return GetAttribute(out, attribute, function);
}
CUresult face::FuncSetAttribute(CUfunction function, CUfunction_attribute attribute, int value) {
  return SetAttribute(function, attribute, value);
}
CUresult face::FuncSetCacheConfig(CUfunction handle, CUfunc_cache) {
  Function* function = nullptr;
  return FunctionOfHandle(handle, &function);
}
CUresult face::FuncGetModule(CUmodule* out, CUfunction handle) {
  CUHEAP_SIM_TRY(NeedPointers(out));
  Function* function = nullptr;
  CUHEAP_SIM_TRY(FunctionOfHandle(handle, &function));
  *out = Cast<CUmodule>(function->module);
  return CUDA_SUCCESS;
}
CUresult face::FuncGetName(const char** out, CUfunction function) { return GetName(out, function); }
CUresult face::FuncIsLoaded(CUfunctionLoadingState* state, CUfunction handle) {
  CUHEAP_SIM_TRY(NeedPointers(state));
  CUHEAP_SIM_TRY(FuncLoad(handle));
  *state = CU_FUNCTION_LOADING_STATE_LOADED;
  return CUDA_SUCCESS;
}
CUresult face::FuncLoad(CUfunction handle) {
  Function* function = nullptr;
  return FunctionOfHandle(handle, &function);
}

}  // namespace cuheap::sim
