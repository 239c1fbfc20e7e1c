#include "tests/sim/runtime/driver.h"

#include <cuda_runtime_api.h>
#include <dlfcn.h>

#include <cstddef>

#include "tests/sim/runtime/missing.h"

namespace cuheap::sim_runtime {
namespace {

constexpr auto kDriverTooOld =
    static_cast<CUresult>(35);  // cudaErrorInsufficientDriver has no name in the driver

enum Index {
#define CUHEAP_DRIVER_FUNCTION(name, version) kIndexOf_##name,
#define CUHEAP_DRIVER_STREAM_FUNCTION(name, version, thread_version) kIndexOf_##name,
#include "tests/sim/runtime/driver_functions.def"
#undef CUHEAP_DRIVER_FUNCTION
#undef CUHEAP_DRIVER_STREAM_FUNCTION
  kFunctions
};

constexpr const char* kNames[kFunctions] = {
#define CUHEAP_DRIVER_FUNCTION(name, version) #name,
#define CUHEAP_DRIVER_STREAM_FUNCTION(name, version, thread_version) #name,
#include "tests/sim/runtime/driver_functions.def"
#undef CUHEAP_DRIVER_FUNCTION
#undef CUHEAP_DRIVER_STREAM_FUNCTION
};

bool said[kFunctions];

// Stands in the table for an entry that the driver does not have.
template <int kIndex, typename Function>
struct Absent;

template <int kIndex, typename... Arguments>
struct Absent<kIndex, CUresult (*)(Arguments...)> {
  static CUresult Call(Arguments...) {
    SayMissingOnce(&said[kIndex], kNames[kIndex], "is not known to the driver");
    return CUDA_ERROR_NOT_SUPPORTED;
  }
};

class Loader {
 public:
  Loader() {
    void* library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL);
    void* resolver = library == nullptr ? nullptr : dlsym(library, "cuGetProcAddress_v2");
    legacy_.get_proc_address = reinterpret_cast<decltype(legacy_.get_proc_address)>(resolver);
    if (resolver != nullptr) AskForResolver();
    FillTable(&legacy_, 0);
    per_thread_ = legacy_;
    FillStreamFunctions(&per_thread_);
    status_ = Start();
  }

  Driver legacy_{};
  Driver per_thread_{};
  CUresult status_ = kDriverTooOld;

 private:
  // A runtime works with every driver of its major version, and newer ones.
  CUresult Start() const {
    if (legacy_.get_proc_address == nullptr) return kDriverTooOld;
    void* function = nullptr;
    CUdriverProcAddressQueryResult found = CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
    if (legacy_.get_proc_address("cuInit", &function, 2000, 0, &found) ==
        CUDA_ERROR_DEINITIALIZED) {
      return CUDA_ERROR_DEINITIALIZED;
    }
    int version = 0;
    const CUresult result = legacy_.cuDriverGetVersion(&version);
    if (result != CUDA_SUCCESS) return result;
    return version / 1000 < CUDART_VERSION / 1000 ? kDriverTooOld : legacy_.cuInit(0);
  }

  void* Query(const char* name, int version, cuuint64_t flags) const {
    if (legacy_.get_proc_address == nullptr) return nullptr;
    void* function = nullptr;
    CUdriverProcAddressQueryResult found = CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
    const CUresult result = legacy_.get_proc_address(name, &function, version, flags, &found);
    return result == CUDA_SUCCESS ? function : nullptr;
  }

  // NVIDIA's runtime asks the resolver for itself, in both of its ABIs, and uses the answer from
  // then on; it also asks for the empty name. A layer that answers any of these wrongly is noticed
  // here as it would be there.
  void AskForResolver() {
    void* newer = Query("cuGetProcAddress", 12000, 0);
    Query("cuGetProcAddress", 11030, 0);
    Query("", 0, 0);
    if (newer != nullptr) {
      legacy_.get_proc_address = reinterpret_cast<decltype(legacy_.get_proc_address)>(newer);
    }
  }

  template <int kIndex, typename Function>
  void Fill(Function* entry, int version, cuuint64_t flags) const {
    void* function = Query(kNames[kIndex], version, flags);
    *entry = function == nullptr ? &Absent<kIndex, Function>::Call
                                 : reinterpret_cast<Function>(function);
  }

  void FillTable(Driver* table, cuuint64_t flags) const {
#define CUHEAP_DRIVER_FUNCTION(name, version) Fill<kIndexOf_##name>(&table->name, version, flags);
#define CUHEAP_DRIVER_STREAM_FUNCTION(name, version, thread_version) \
  Fill<kIndexOf_##name>(&table->name, version, flags);
#include "tests/sim/runtime/driver_functions.def"
#undef CUHEAP_DRIVER_FUNCTION
#undef CUHEAP_DRIVER_STREAM_FUNCTION
  }

  void FillStreamFunctions(Driver* table) const {
    constexpr cuuint64_t kPerThread = CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM;
#define CUHEAP_DRIVER_FUNCTION(name, version)
#define CUHEAP_DRIVER_STREAM_FUNCTION(name, version, thread_version) \
  Fill<kIndexOf_##name>(&table->name, thread_version, kPerThread);
#include "tests/sim/runtime/driver_functions.def"
#undef CUHEAP_DRIVER_FUNCTION
#undef CUHEAP_DRIVER_STREAM_FUNCTION
  }
};

// Leaked on purpose: other libraries free their memory from destructors that run after ours would.
const Loader& Loaded() {
  static const Loader& loader = *new Loader;
  return loader;
}

}  // namespace

const Driver& GetDriver(DefaultStream flavour) {
  const Loader& loader = Loaded();
  return flavour == DefaultStream::kLegacy ? loader.legacy_ : loader.per_thread_;
}

CUresult DriverStatus() { return Loaded().status_; }

}  // namespace cuheap::sim_runtime
