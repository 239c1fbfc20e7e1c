#include "hooks/preload/resolver.h"

#include <dlfcn.h>

#include <string_view>

#include "hooks/preload/doors.h"

namespace cuheap::preload {
namespace {

enum class Library { kRuntime, kDriver };

constexpr const char* kObjects[][3] = {{"libcudart.so.13", "libcudart.so.12", "libcudart.so.11.0"},
                                       {"libcuda.so.1"}};

struct Function {
  const char* symbol;
  Library library;
  unsigned version;
  void* ours;
};

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
// Taken at load time by relocation, so that no look-up can answer with somebody else's.
const Function kFunctions[kNames] = {
#define CUHEAP_RUNTIME(name) {#name, Library::kRuntime, 0, reinterpret_cast<void*>(&::name)},
#define CUHEAP_RUNTIME_STREAM(name) CUHEAP_RUNTIME(name) CUHEAP_RUNTIME(name##_ptsz)
#define CUHEAP_DRIVER(name, version) \
  {#name, Library::kDriver, version, reinterpret_cast<void*>(&::name)},
#define CUHEAP_TORCH(name)
#include "hooks/preload/functions.def"
#undef CUHEAP_RUNTIME
#undef CUHEAP_RUNTIME_STREAM
#undef CUHEAP_DRIVER
#undef CUHEAP_TORCH
};
#pragma GCC diagnostic pop

// A handle to the object that `caller` lies in; its dependencies are searched with it. Nothing is
// loaded: the object is there already.
void* HandleOf(const void* caller) {
  Dl_info info{};
  if (caller == nullptr || dladdr(caller, &info) == 0 || info.dli_fname == nullptr) return nullptr;
  return dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
}

// Objects of a local scope are not found by RTLD_NEXT: then it is the caller who depends on them.
void* Find(const Function& function, void* caller_handle) {
  void* found = dlsym(RTLD_NEXT, function.symbol);
  if (found == nullptr && caller_handle != nullptr) found = dlsym(caller_handle, function.symbol);
  // The main program's scope begins with us; a caller found by dlsym depends on nothing.
  for (const char* object : kObjects[static_cast<std::size_t>(function.library)])
    if ((found == nullptr || found == function.ours) && object != nullptr)
      found = FindLoaded(object, function.symbol);
  return found == function.ours ? nullptr : found;
}

}  // namespace

constinit std::atomic<void*> real_functions[kNames]{};

void Resolve(Name name, const void* caller) {
  const Library library = kFunctions[static_cast<std::size_t>(name)].library;
  void* handle = HandleOf(caller);
  for (std::size_t i = 0; i < kNames; ++i) {
    if (kFunctions[i].library != library ||
        real_functions[i].load(std::memory_order_relaxed) != nullptr)
      continue;
    void* expected = nullptr;
    real_functions[i].compare_exchange_strong(expected, Find(kFunctions[i], handle),
                                              std::memory_order_acq_rel);
  }
  if (handle != nullptr) dlclose(handle);
}

void* Substitute(const char* symbol, unsigned version, void* real) {
  for (std::size_t i = 0; i < kNames; ++i) {
    const Function& function = kFunctions[i];
    if (function.library != Library::kDriver || std::string_view(function.symbol) != symbol)
      continue;
    if (version < function.version || real == function.ours) return real;
    void* expected = nullptr;
    real_functions[i].compare_exchange_strong(expected, real, std::memory_order_acq_rel);
    return function.ours;
  }
  return real;
}

void* FindLoaded(const char* object, const char* symbol) {
  void* handle = dlopen(object, RTLD_LAZY | RTLD_NOLOAD);
  if (handle == nullptr) return nullptr;
  void* found = dlsym(handle, symbol);
  dlclose(handle);
  return found;
}

}  // namespace cuheap::preload
