#include "allocator/driver/cuda_driver.h"

#include <cuda.h>
#include <cudaTypedefs.h>
#include <dlfcn.h>

#include <utility>

namespace cuheap {
namespace {

template <CudaFunction kFunction>
struct Signature;
#define CUHEAP_CUDA(name, version)           \
  template <>                                \
  struct Signature<CudaFunction::k_##name> { \
    using Type = PFN_##name##_v##version;    \
  };
#define CUHEAP_CUDA_OPTIONAL(name, version) CUHEAP_CUDA(name, version)
#include "allocator/driver/cuda_functions.def"
#undef CUHEAP_CUDA
#undef CUHEAP_CUDA_OPTIONAL

struct Row {
  const char* name;
  int version;
  bool optional;
};

constexpr Row kRows[] = {
#define CUHEAP_CUDA(name, version) {#name, version, false},
#define CUHEAP_CUDA_OPTIONAL(name, version) {#name, version, true},
#include "allocator/driver/cuda_functions.def"
#undef CUHEAP_CUDA
#undef CUHEAP_CUDA_OPTIONAL
};

DriverCode CodeOf(CUresult result) {
  switch (result) {
    case CUDA_SUCCESS:
      return DriverCode::kSuccess;
    case CUDA_ERROR_OUT_OF_MEMORY:
      return DriverCode::kOutOfMemory;
    case CUDA_ERROR_NOT_READY:
      return DriverCode::kNotReady;
    case CUDA_ERROR_NOT_SUPPORTED:
    case CUDA_ERROR_NO_DEVICE:
    case CUDA_ERROR_STUB_LIBRARY:
      return DriverCode::kNotSupported;
    case CUDA_ERROR_INVALID_VALUE:
    case CUDA_ERROR_INVALID_HANDLE:
    case CUDA_ERROR_INVALID_CONTEXT:
    case CUDA_ERROR_INVALID_DEVICE:
      return DriverCode::kInvalid;
    case CUDA_ERROR_NOT_INITIALIZED:
    case CUDA_ERROR_DEINITIALIZED:
      return DriverCode::kGone;
    default:
      break;
  }
  const bool capture = result >= CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED &&
                       result <= CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD;
  return capture ? DriverCode::kCapturing : DriverCode::kFailed;
}

DriverStatus StatusOf(CUresult result) {
  return {CodeOf(result), static_cast<std::int32_t>(result)};
}

constexpr DriverStatus kSuccess{};
constexpr DriverStatus kNotSupported{DriverCode::kNotSupported, CUDA_ERROR_NOT_SUPPORTED};
constexpr DriverStatus kInvalidDevice{DriverCode::kInvalid, CUDA_ERROR_INVALID_DEVICE};

CUstream StreamOf(StreamHandle stream) { return reinterpret_cast<CUstream>(Value(stream)); }
CUevent EventOf(EventHandle event) {
  return reinterpret_cast<CUevent>(static_cast<std::uintptr_t>(event));
}

CUmemAllocationProp PropertiesOf(DeviceId device, const PageRules& rules) {
  CUmemAllocationProp properties{};
  properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, static_cast<int>(Value(device))};
  if (rules.exportable) properties.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
  properties.allocFlags.gpuDirectRDMACapable = rules.for_devices ? 1 : 0;
  return properties;
}

}  // namespace

template <CudaFunction kFunction, class... Arguments>
DriverStatus CudaDriver::Call(Arguments... arguments) const {
  void* const function = functions_[static_cast<std::size_t>(kFunction)];
  if (function == nullptr) return kNotSupported;
  return StatusOf(reinterpret_cast<typename Signature<kFunction>::Type>(function)(arguments...));
}

#define CUHEAP_CALL(name) Call<CudaFunction::k_##name>

// The caller's context is current again afterwards.
template <class Work>
DriverStatus CudaDriver::InContext(void* context, Work&& work) const {
  CUcontext current = nullptr;
  if (const DriverStatus asked = CUHEAP_CALL(cuCtxGetCurrent)(&current); !asked.ok()) return asked;
  if (current == context) return work();
  const DriverStatus pushed = CUHEAP_CALL(cuCtxPushCurrent)(static_cast<CUcontext>(context));
  if (!pushed.ok()) return pushed;
  const DriverStatus done = work();
  (void)CUHEAP_CALL(cuCtxPopCurrent)(&current);
  return done;
}

template <class Work>
DriverStatus CudaDriver::OnDevice(DeviceId device, Work&& work) {
  void* context = nullptr;
  if (const DriverStatus found = FindPrimary(device, &context); !found.ok()) return found;
  return InContext(context, std::forward<Work>(work));
}

void* CudaDriver::FindInLibcuda(const char* name, int version) {
  void* const library = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);
  if (library == nullptr) return nullptr;
  void* function = nullptr;
  CUdriverProcAddressQueryResult found{};
  if (void* const ask = dlsym(library, "cuGetProcAddress_v2")) {
    (void)reinterpret_cast<PFN_cuGetProcAddress_v12000>(ask)(
        name, &function, version, CU_GET_PROC_ADDRESS_LEGACY_STREAM, &found);
  } else if (void* const old = dlsym(library, "cuGetProcAddress")) {
    (void)reinterpret_cast<PFN_cuGetProcAddress_v11030>(old)(name, &function, version,
                                                             CU_GET_PROC_ADDRESS_LEGACY_STREAM);
  }
  dlclose(library);  // it stays: no driver is ever unloaded
  return function;
}

DriverStatus CudaDriver::Start(Find find) {
  for (std::size_t i = 0; i < functions_.size(); ++i) {
    functions_[i] = find(kRows[i].name, kRows[i].version);
    if (functions_[i] != nullptr || kRows[i].optional) continue;
    missing_ = kRows[i].name;
    return kNotSupported;
  }
  return CUHEAP_CALL(cuInit)(0u);
}

DriverStatus CudaDriver::FindPrimary(DeviceId device, void** context) {
  if (Value(device) >= kMostDevices) return kInvalidDevice;
  std::atomic<void*>& known = primaries_[Value(device)];
  *context = known.load(std::memory_order_acquire);
  if (*context != nullptr) return kSuccess;
  CUdevice ordinal = 0;
  CUcontext made = nullptr;
  const DriverStatus found = CUHEAP_CALL(cuDeviceGet)(&ordinal, static_cast<int>(Value(device)));
  if (!found.ok()) return found;
  const DriverStatus retained = CUHEAP_CALL(cuDevicePrimaryCtxRetain)(&made, ordinal);
  if (!retained.ok()) return retained;
  // Two threads may both be first: the context is the same, retained once more and never released.
  known.store(made, std::memory_order_release);
  *context = made;
  return kSuccess;
}

DriverStatus CudaDriver::CountDevices(std::uint32_t* count) {
  int devices = 0;
  const DriverStatus status = CUHEAP_CALL(cuDeviceGetCount)(&devices);
  if (status.ok()) *count = static_cast<std::uint32_t>(devices);
  return status;
}

DriverStatus CudaDriver::Figures(DeviceId device, MemoryFigures* figures) {
  std::size_t free = 0;
  std::size_t total = 0;
  const DriverStatus status =
      OnDevice(device, [&] { return CUHEAP_CALL(cuMemGetInfo)(&free, &total); });
  if (status.ok()) *figures = {Bytes(free), Bytes(total)};
  return status;
}

DriverStatus CudaDriver::Allocate(DeviceId device, Bytes bytes, Address* address) {
  CUdeviceptr memory = 0;
  const DriverStatus status =
      OnDevice(device, [&] { return CUHEAP_CALL(cuMemAlloc)(&memory, bytes.count()); });
  if (status.ok()) *address = Address(memory);
  return status;
}

DriverStatus CudaDriver::Free(DeviceId device, Address address) {
  return OnDevice(device, [&] { return CUHEAP_CALL(cuMemFree)(Value(address)); });
}

DriverStatus CudaDriver::AllocateManaged(DeviceId device, Bytes bytes, Address* address) {
  CUdeviceptr memory = 0;
  const DriverStatus status = OnDevice(device, [&] {
    return CUHEAP_CALL(cuMemAllocManaged)(&memory, bytes.count(),
                                          static_cast<unsigned>(CU_MEM_ATTACH_GLOBAL));
  });
  if (status.ok()) *address = Address(memory);
  return status;
}

DriverStatus CudaDriver::AskGranule(DeviceId device, PageRules* rules) {
  CUdevice ordinal = 0;
  int has_virtual_memory = 0;
  DriverStatus status = CUHEAP_CALL(cuDeviceGet)(&ordinal, static_cast<int>(Value(device)));
  if (!status.ok()) return status;
  status = CUHEAP_CALL(cuDeviceGetAttribute)(
      &has_virtual_memory, CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED, ordinal);
  if (!status.ok()) return status;
  if (has_virtual_memory == 0) return kNotSupported;
  const CUmemAllocationProp properties = PropertiesOf(device, *rules);
  std::size_t granule = 0;
  status = CUHEAP_CALL(cuMemGetAllocationGranularity)(&granule, &properties,
                                                      CU_MEM_ALLOC_GRANULARITY_RECOMMENDED);
  if (status.ok()) rules->granule = Bytes(granule);
  return status;
}

DriverStatus CudaDriver::Reserve(Bytes bytes, Bytes alignment, Address* address) {
  CUdeviceptr range = 0;
  const DriverStatus status = CUHEAP_CALL(cuMemAddressReserve)(
      &range, bytes.count(), alignment.count(), CUdeviceptr{0}, 0ull);
  if (status.ok()) *address = Address(range);
  return status;
}

DriverStatus CudaDriver::ReleaseRange(Address address, Bytes bytes) {
  return CUHEAP_CALL(cuMemAddressFree)(Value(address), bytes.count());
}

DriverStatus CudaDriver::CreatePages(DeviceId device, Bytes bytes, const PageRules& rules,
                                     PagesHandle* pages) {
  const CUmemAllocationProp properties = PropertiesOf(device, rules);
  CUmemGenericAllocationHandle handle = 0;
  const DriverStatus status = CUHEAP_CALL(cuMemCreate)(&handle, bytes.count(), &properties, 0ull);
  if (status.ok()) *pages = PagesHandle(handle);
  return status;
}

DriverStatus CudaDriver::DestroyPages(PagesHandle pages) {
  return CUHEAP_CALL(cuMemRelease)(static_cast<CUmemGenericAllocationHandle>(pages));
}

DriverStatus CudaDriver::Map(Address address, Bytes bytes, PagesHandle pages) {
  return CUHEAP_CALL(cuMemMap)(Value(address), bytes.count(), std::size_t{0},
                               static_cast<CUmemGenericAllocationHandle>(pages), 0ull);
}

DriverStatus CudaDriver::Unmap(Address address, Bytes bytes) {
  return CUHEAP_CALL(cuMemUnmap)(Value(address), bytes.count());
}

DriverStatus CudaDriver::SetAccess(Address address, Bytes bytes, std::uint64_t devices) {
  std::array<CUmemAccessDesc, kMostDevices> rights{};
  std::size_t count = 0;
  for (int device = 0; device < static_cast<int>(kMostDevices); ++device) {
    if ((devices >> device & 1) == 0) continue;
    rights[count++] = {{CU_MEM_LOCATION_TYPE_DEVICE, device}, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
  }
  return CUHEAP_CALL(cuMemSetAccess)(Value(address), bytes.count(), rights.data(), count);
}

DriverStatus CudaDriver::LookAt(DeviceId device, StreamHandle stream, StreamFacts* facts) {
  unsigned long long id = Value(stream);  // what drivers before CUDA 12 can tell
  cuuint64_t capture = 0;
  CUstreamCaptureStatus capturing = CU_STREAM_CAPTURE_STATUS_NONE;
  const DriverStatus status = OnDevice(device, [&] {
    const DriverStatus named = CUHEAP_CALL(cuStreamGetId)(StreamOf(stream), &id);
    if (!named.ok() && named.code != DriverCode::kNotSupported) return named;
    return CUHEAP_CALL(cuStreamGetCaptureInfo)(StreamOf(stream), &capturing, &capture);
  });
  if (status.ok()) *facts = {StreamId(id), capturing != CU_STREAM_CAPTURE_STATUS_NONE, capture};
  return status;
}

DriverStatus CudaDriver::CreateEvent(DeviceId device, StreamHandle stream, EventHandle* event) {
  CUevent made = nullptr;
  const DriverStatus status = OnDevice(device, [&] {
    CUcontext context = nullptr;
    const DriverStatus asked = CUHEAP_CALL(cuStreamGetCtx)(StreamOf(stream), &context);
    if (!asked.ok()) return asked;
    return InContext(context, [&] {
      return CUHEAP_CALL(cuEventCreate)(&made, static_cast<unsigned>(CU_EVENT_DISABLE_TIMING));
    });
  });
  if (status.ok()) *event = EventHandle(reinterpret_cast<std::uintptr_t>(made));
  return status;
}

DriverStatus CudaDriver::DestroyEvent(EventHandle event) {
  return CUHEAP_CALL(cuEventDestroy)(EventOf(event));
}

DriverStatus CudaDriver::Record(DeviceId device, StreamHandle stream, EventHandle event) {
  return OnDevice(device,
                  [&] { return CUHEAP_CALL(cuEventRecord)(EventOf(event), StreamOf(stream)); });
}

DriverStatus CudaDriver::Query(EventHandle event) {
  return CUHEAP_CALL(cuEventQuery)(EventOf(event));
}

DriverStatus CudaDriver::StreamWait(DeviceId device, StreamHandle stream, EventHandle event) {
  return OnDevice(
      device, [&] { return CUHEAP_CALL(cuStreamWaitEvent)(StreamOf(stream), EventOf(event), 0u); });
}

DriverStatus CudaDriver::Wait(EventHandle event) {
  return CUHEAP_CALL(cuEventSynchronize)(EventOf(event));
}

DriverStatus CudaDriver::WaitForDevice(DeviceId device) {
  return OnDevice(device, [&] { return CUHEAP_CALL(cuCtxSynchronize)(); });
}

}  // namespace cuheap
