#include "tests/contract/driver_functions.h"

#include <dlfcn.h>

namespace cuheap::contract {
namespace {

// The symbol of the ABI that a name of cuda.h stands for.
#define CUHEAP_CONTRACT_TEXT(name) #name
#define CUHEAP_CONTRACT_SYMBOL(name) CUHEAP_CONTRACT_TEXT(name)

void* Library() {
  static void* const library = dlopen("libcuda.so.1", RTLD_NOW);
  return library;
}

DriverFunctions BySymbols() {
  DriverFunctions found;
#define F(name) \
  found.name =  \
      reinterpret_cast<decltype(found.name)>(dlsym(Library(), CUHEAP_CONTRACT_SYMBOL(name)));
#include "tests/contract/driver_functions.def"
#undef F
  return found;
}

// A later one would answer cuCtxSynchronize and cuCtxGetDevice with ABIs that take a context, which
// cuda.h declares under names of their own.
constexpr int kVersion = 12090;

DriverFunctions ByResolver() {
  DriverFunctions found;
  const auto resolve =
      reinterpret_cast<decltype(&cuGetProcAddress)>(dlsym(Library(), "cuGetProcAddress_v2"));
  if (resolve == nullptr) return found;
  const auto find = [resolve](const char* name) {
    void* function = nullptr;
    CUdriverProcAddressQueryResult result{};
    resolve(name, &function, kVersion, CU_GET_PROC_ADDRESS_DEFAULT, &result);
    return function;
  };
#define F(name) found.name = reinterpret_cast<decltype(found.name)>(find(#name));
#include "tests/contract/driver_functions.def"
#undef F
  return found;
}

}  // namespace

const DriverFunctions& Driver(Road road) {
  static const DriverFunctions by_symbols = BySymbols();
  static const DriverFunctions by_resolver = ByResolver();
  return road == Road::kSymbols ? by_symbols : by_resolver;
}

bool DriverIsThere(const char** reason) {
  if (Library() == nullptr) {
    *reason = dlerror();
    return false;
  }
  const CUresult code = Driver(Road::kSymbols).cuInit(0);
  if (code == CUDA_SUCCESS) return true;
  *reason = "cuInit failed";
  Driver(Road::kSymbols).cuGetErrorName(code, reason);
  return false;
}

}  // namespace cuheap::contract
