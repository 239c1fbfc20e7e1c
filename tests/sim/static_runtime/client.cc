// A program that reaches the driver as one does that has a CUDA runtime linked into it: dlopen, one
// dlsym of the resolver (of the older one where there is no other), and nothing but the resolver's
// answers from then on. It allocates, sets, copies and frees, and prints
//
//   resolver=cuGetProcAddress_v2 asked=N found=N copied=yes
//
// Exit code 0: everything worked; otherwise a line on stderr says what did not.
#include <cuda.h>
#include <dlfcn.h>

#include <algorithm>
#include <cstdio>
#include <vector>

#include "tests/sim/static_runtime/queries.h"

namespace cuheap::sim {
namespace {

constexpr const char* kNewer = "cuGetProcAddress_v2";
constexpr const char* kOlder = "cuGetProcAddress";

class Resolver {
 public:
  bool Open() {
    void* library = dlopen("libcuda.so.1", RTLD_NOW);
    if (library == nullptr) return false;
    newer_ = reinterpret_cast<decltype(newer_)>(dlsym(library, kNewer));
    if (newer_ == nullptr) older_ = reinterpret_cast<decltype(older_)>(dlsym(library, kOlder));
    return newer_ != nullptr || older_ != nullptr;
  }

  void* Ask(const Query& query) const {
    void* function = nullptr;
    CUdriverProcAddressQueryResult status = CU_GET_PROC_ADDRESS_SUCCESS;
    const CUresult result = newer_ != nullptr
                                ? newer_(query.name, &function, query.version, query.flags, &status)
                                : older_(query.name, &function, query.version, query.flags);
    return result == CUDA_SUCCESS ? function : nullptr;
  }

  // The resolver's own answer about itself, in the ABI that is spoken already, is used from then
  // on.
  void AskForItself() {
    void* self = Ask({kOlder, newer_ != nullptr ? 12000 : 11030, 0});
    if (self == nullptr) return;
    if (newer_ != nullptr) {
      newer_ = reinterpret_cast<decltype(newer_)>(self);
    } else {
      older_ = reinterpret_cast<decltype(older_)>(self);
    }
  }

  const char* Name() const { return newer_ != nullptr ? kNewer : kOlder; }

 private:
  decltype(&::cuGetProcAddress_v2) newer_ = nullptr;
  decltype(&::cuGetProcAddress) older_ = nullptr;
};

// Calls a function by its base name and version. NOT_FOUND: the driver has none.
class Driver {
 public:
  explicit Driver(const Resolver& resolver) : resolver_(resolver) {}

  template <class Function, class... Arguments>
  CUresult Call(const char* name, int version, Function* /*type*/, Arguments... arguments) const {
    auto* function = reinterpret_cast<Function*>(resolver_.Ask({name, version, 0}));
    const CUresult result = function == nullptr ? CUDA_ERROR_NOT_FOUND : function(arguments...);
    if (result != CUDA_SUCCESS) std::fprintf(stderr, "client: %s says %d\n", name, result);
    return result;
  }

 private:
  const Resolver& resolver_;
};

// The type of an entry point, of which no definition is linked.
#define TYPE(symbol) static_cast<decltype(::symbol)*>(nullptr)

bool UseMemory(const Driver& driver) {
  constexpr std::size_t kBytes = 3U << 20;
  CUcontext context = nullptr;
  CUdeviceptr block = 0;
  std::vector<unsigned char> bytes(kBytes);
  const bool worked =
      driver.Call("cuInit", 2000, TYPE(cuInit), 0U) == CUDA_SUCCESS &&
      driver.Call("cuDevicePrimaryCtxRetain", 7000, TYPE(cuDevicePrimaryCtxRetain), &context, 0) ==
          CUDA_SUCCESS &&
      driver.Call("cuCtxSetCurrent", 4000, TYPE(cuCtxSetCurrent), context) == CUDA_SUCCESS &&
      driver.Call("cuMemAlloc", 3020, TYPE(cuMemAlloc_v2), &block, kBytes) == CUDA_SUCCESS &&
      driver.Call("cuMemsetD8", 3020, TYPE(cuMemsetD8_v2), block, static_cast<unsigned char>(0x5A),
                  kBytes) == CUDA_SUCCESS &&
      driver.Call("cuMemcpyDtoH", 3020, TYPE(cuMemcpyDtoH_v2), bytes.data(), block, kBytes) ==
          CUDA_SUCCESS &&
      driver.Call("cuMemFree", 3020, TYPE(cuMemFree_v2), block) == CUDA_SUCCESS;
  return worked && std::all_of(bytes.begin(), bytes.end(), [](int byte) { return byte == 0x5A; });
}

int Main() {
  Resolver resolver;
  if (!resolver.Open()) {
    std::fprintf(stderr, "client: no driver: %s\n", dlerror());
    return 1;
  }
  resolver.AskForItself();
  const std::vector<Query> queries = QueriesOfRuntime();
  const auto found = std::count_if(queries.begin(), queries.end(), [&](const Query& query) {
    return resolver.Ask(query) != nullptr;
  });
  const bool copied = UseMemory(Driver(resolver));
  std::printf("resolver=%s asked=%zu found=%td copied=%s\n", resolver.Name(), queries.size(), found,
              copied ? "yes" : "no");
  return copied ? 0 : 1;
}

}  // namespace
}  // namespace cuheap::sim

int main() { return cuheap::sim::Main(); }
