// Managed memory: advice, prefetches, discards, and the streams it is attached to.
#include "tests/sim/engine/managed_memory.h"

#include <vector>

#include "tests/sim/driver/support.h"
#include "tests/sim/engine/allocation_table.h"

namespace cuheap::sim {
namespace {

// The host's one node is number 0, and near to every thread.
CUresult PlaceOf(CUmemLocation location, CUmemLocation* out) {
  switch (location.type) {
    case CU_MEM_LOCATION_TYPE_DEVICE:
      CUHEAP_SIM_TRY(NeedDevice(location.id));
      break;
    case CU_MEM_LOCATION_TYPE_HOST:
      location.id = 0;
      break;
    case CU_MEM_LOCATION_TYPE_HOST_NUMA:
      if (location.id != 0) return CUDA_ERROR_INVALID_VALUE;
      break;
    case CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT:
      location = {CU_MEM_LOCATION_TYPE_HOST_NUMA, 0};
      break;
    default:
      return CUDA_ERROR_INVALID_VALUE;
  }
  *out = location;
  return CUDA_SUCCESS;
}

// The oldest calls name a device, or the host by CU_DEVICE_CPU.
CUmemLocation LocationOf(CUdevice device) {
  if (device == CU_DEVICE_CPU) return {CU_MEM_LOCATION_TYPE_HOST, 0};
  return {CU_MEM_LOCATION_TYPE_DEVICE, device};
}

CUresult BitOfAccessor(const CUmemLocation& location, std::uint32_t* bit) {
  if (location.type == CU_MEM_LOCATION_TYPE_HOST) {
    *bit = 1U << kHostAccess;
    return CUDA_SUCCESS;
  }
  if (location.type != CU_MEM_LOCATION_TYPE_DEVICE) return CUDA_ERROR_INVALID_VALUE;
  CUHEAP_SIM_TRY(NeedDevice(location.id));
  *bit = 1U << location.id;
  return CUDA_SUCCESS;
}

CUresult NeedManaged(CUdeviceptr base, size_t bytes) {
  return IsManagedRange(base, bytes) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

// Nothing in a graph stands for a prefetch.
CUresult NeedUncaptured(Stream* stream) {
  if (!AnyCapture()) return CUDA_SUCCESS;
  const EngineLock lock;
  return RefuseOn(stream);
}

void Prefetch(CUdeviceptr base, size_t bytes, const CUmemLocation& place) {
  Advise(base, bytes, [&](ManagedAdvice* advice) { advice->prefetched = place; });
}

// The arguments that the batches share.
struct Batch {
  CUdeviceptr* bases;
  size_t* sizes;
  size_t count;
  unsigned long long flags;
};

CUresult CheckBatch(const Batch& batch, CUstream handle, Stream** stream) {
  CUHEAP_SIM_TRY(NeedPointers(batch.bases, batch.sizes));
  if (batch.count == 0 || batch.flags != 0) return CUDA_ERROR_INVALID_VALUE;
  CUHEAP_SIM_TRY(StreamOf(handle, stream));
  if ((*stream)->is_legacy()) return CUDA_ERROR_INVALID_HANDLE;
  for (size_t i = 0; i < batch.count; ++i) {
    CUHEAP_SIM_TRY(NeedManaged(batch.bases[i], batch.sizes[i]));
  }
  return NeedUncaptured(*stream);
}

// Where each member of the batch goes.
CUresult PlacesOf(size_t count, const CUmemLocation* locations, const size_t* firsts, size_t given,
                  std::vector<CUmemLocation>* out) {
  CUHEAP_SIM_TRY(NeedPointers(locations, firsts));
  if (given == 0 || given > count || firsts[0] != 0) return CUDA_ERROR_INVALID_VALUE;
  for (size_t k = 0; k < given; ++k) {
    const size_t end = k + 1 < given ? firsts[k + 1] : count;
    if (end <= firsts[k] || end > count) return CUDA_ERROR_INVALID_VALUE;
    CUmemLocation place{};
    CUHEAP_SIM_TRY(PlaceOf(locations[k], &place));
    out->resize(end, place);
  }
  return CUDA_SUCCESS;
}

TouchOp DiscardOf(const Batch& batch) {
  TouchOp discard{"discard of memory", {}};
  for (size_t i = 0; i < batch.count; ++i) {
    discard.ranges.push_back({batch.bases[i], batch.sizes[i], true});
  }
  return discard;
}

void PrefetchAll(const Batch& batch, const std::vector<CUmemLocation>& places) {
  for (size_t i = 0; i < batch.count; ++i) Prefetch(batch.bases[i], batch.sizes[i], places[i]);
}

}  // namespace

CUresult face::MemAdvise_v2(CUdeviceptr base, size_t bytes, CUmem_advise advice,
                            CUmemLocation location) {
  CUHEAP_SIM_TRY(NeedManaged(base, bytes));
  CUmemLocation place{CU_MEM_LOCATION_TYPE_INVALID, 0};
  std::uint32_t bit = 0;
  switch (advice) {
    case CU_MEM_ADVISE_SET_READ_MOSTLY:
    case CU_MEM_ADVISE_UNSET_READ_MOSTLY:
      Advise(base, bytes,
             [&](ManagedAdvice* on) { on->read_mostly = advice == CU_MEM_ADVISE_SET_READ_MOSTLY; });
      return CUDA_SUCCESS;
    case CU_MEM_ADVISE_SET_PREFERRED_LOCATION:
      CUHEAP_SIM_TRY(PlaceOf(location, &place));
      [[fallthrough]];
    case CU_MEM_ADVISE_UNSET_PREFERRED_LOCATION:
      Advise(base, bytes, [&](ManagedAdvice* on) { on->preferred = place; });
      return CUDA_SUCCESS;
    case CU_MEM_ADVISE_SET_ACCESSED_BY:
      CUHEAP_SIM_TRY(BitOfAccessor(location, &bit));
      Advise(base, bytes, [&](ManagedAdvice* on) { on->accessed_by |= bit; });
      return CUDA_SUCCESS;
    case CU_MEM_ADVISE_UNSET_ACCESSED_BY:
      CUHEAP_SIM_TRY(BitOfAccessor(location, &bit));
      Advise(base, bytes, [&](ManagedAdvice* on) { on->accessed_by &= ~bit; });
      return CUDA_SUCCESS;
    default:
      return CUDA_ERROR_INVALID_VALUE;
  }
}

CUresult face::MemAdvise(CUdeviceptr base, size_t bytes, CUmem_advise advice, CUdevice device) {
  return MemAdvise_v2(base, bytes, advice, LocationOf(device));
}

CUresult face::MemPrefetchAsync_v2(CUdeviceptr base, size_t bytes, CUmemLocation location,
                                   unsigned flags, CUstream handle) {
  if (flags != 0) return CUDA_ERROR_INVALID_VALUE;
  Stream* stream = nullptr;
  CUHEAP_SIM_TRY(StreamOf(handle, &stream));
  CUHEAP_SIM_TRY(NeedManaged(base, bytes));
  CUmemLocation place{};
  CUHEAP_SIM_TRY(PlaceOf(location, &place));
  CUHEAP_SIM_TRY(NeedUncaptured(stream));
  CUHEAP_SIM_TRY(Submit(stream, EmptyOp{}));
  Prefetch(base, bytes, place);
  return CUDA_SUCCESS;
}

CUresult face::MemPrefetchAsync(CUdeviceptr base, size_t bytes, CUdevice device, CUstream stream) {
  return MemPrefetchAsync_v2(base, bytes, LocationOf(device), 0, stream);
}

CUresult face::MemPrefetchBatchAsync(CUdeviceptr* bases, size_t* sizes, size_t count,
                                     CUmemLocation* locations, size_t* firsts, size_t given,
                                     unsigned long long flags, CUstream handle) {
  const Batch batch{bases, sizes, count, flags};
  std::vector<CUmemLocation> places;
  CUHEAP_SIM_TRY(PlacesOf(count, locations, firsts, given, &places));
  Stream* stream = nullptr;
  CUHEAP_SIM_TRY(CheckBatch(batch, handle, &stream));
  CUHEAP_SIM_TRY(Submit(stream, EmptyOp{}));
  PrefetchAll(batch, places);
  return CUDA_SUCCESS;
}

// What is discarded keeps its contents here, which is one of the values that it may have.
CUresult face::MemDiscardBatchAsync(CUdeviceptr* bases, size_t* sizes, size_t count,
                                    unsigned long long flags, CUstream handle) {
  const Batch batch{bases, sizes, count, flags};
  Stream* stream = nullptr;
  CUHEAP_SIM_TRY(CheckBatch(batch, handle, &stream));
  return Submit(stream, DiscardOf(batch));
}

CUresult face::MemDiscardAndPrefetchBatchAsync(CUdeviceptr* bases, size_t* sizes, size_t count,
                                               CUmemLocation* locations, size_t* firsts,
                                               size_t given, unsigned long long flags,
                                               CUstream handle) {
  const Batch batch{bases, sizes, count, flags};
  std::vector<CUmemLocation> places;
  CUHEAP_SIM_TRY(PlacesOf(count, locations, firsts, given, &places));
  Stream* stream = nullptr;
  CUHEAP_SIM_TRY(CheckBatch(batch, handle, &stream));
  CUHEAP_SIM_TRY(Submit(stream, DiscardOf(batch)));
  PrefetchAll(batch, places);
  return CUDA_SUCCESS;
}

// Every device accesses managed memory whenever it likes, so an association has no effect.
CUresult face::StreamAttachMemAsync(CUstream handle, CUdeviceptr address, size_t bytes,
                                    unsigned flags) {
  Stream* stream = nullptr;
  CUHEAP_SIM_TRY(StreamOf(handle, &stream));
  const bool single = flags == CU_MEM_ATTACH_SINGLE;
  if (flags != CU_MEM_ATTACH_GLOBAL && flags != CU_MEM_ATTACH_HOST && !single) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  if (single && stream->is_legacy()) return CUDA_ERROR_INVALID_VALUE;
  {
    const EngineLock lock;
    const Allocation* block = FindAllocation(address);
    const bool whole = block != nullptr && block->base == address &&
                       block->type == AllocationType::kManaged &&
                       (bytes == 0 || bytes == block->bytes);
    if (!whole) return CUDA_ERROR_INVALID_VALUE;
  }
  CUHEAP_SIM_TRY(NeedUncaptured(stream));
  return Submit(stream, EmptyOp{});
}

}  // namespace cuheap::sim
