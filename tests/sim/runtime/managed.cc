// Managed memory: advice, prefetches and discards.
#include "tests/sim/runtime/export.h"

using namespace cuheap::sim_runtime;

CUHEAP_FORWARD(cudaMallocManaged, cuMemAllocManaged,
               (void** pointer, size_t size, unsigned int flags), pointer, size, flags)
CUHEAP_FORWARD(cudaMemAdvise, cuMemAdvise,
               (const void* pointer, size_t count, cudaMemoryAdvise advice,
                cudaMemLocation location),
               pointer, count, advice, location)
CUHEAP_FORWARD_STREAM(cudaMemPrefetchAsync, _ptsz, cuMemPrefetchAsync,
                      (const void* pointer, size_t count, cudaMemLocation location,
                       unsigned int flags, cudaStream_t stream),
                      pointer, count, location, flags, stream)
CUHEAP_FORWARD_STREAM(cudaMemPrefetchBatchAsync, _ptsz, cuMemPrefetchBatchAsync,
                      (void** pointers, size_t* sizes, size_t count, cudaMemLocation* locations,
                       size_t* firsts, size_t given, unsigned long long flags, cudaStream_t stream),
                      pointers, sizes, count, locations, firsts, given, flags, stream)
CUHEAP_FORWARD_STREAM(cudaMemDiscardBatchAsync, _ptsz, cuMemDiscardBatchAsync,
                      (void** pointers, size_t* sizes, size_t count, unsigned long long flags,
                       cudaStream_t stream),
                      pointers, sizes, count, flags, stream)
CUHEAP_FORWARD_STREAM(cudaMemDiscardAndPrefetchBatchAsync, _ptsz, cuMemDiscardAndPrefetchBatchAsync,
                      (void** pointers, size_t* sizes, size_t count, cudaMemLocation* locations,
                       size_t* firsts, size_t given, unsigned long long flags, cudaStream_t stream),
                      pointers, sizes, count, locations, firsts, given, flags, stream)
CUHEAP_FORWARD(cudaMemRangeGetAttribute, cuMemRangeGetAttribute,
               (void* data, size_t size, cudaMemRangeAttribute attribute, const void* pointer,
                size_t count),
               data, size, attribute, pointer, count)
CUHEAP_FORWARD(cudaMemRangeGetAttributes, cuMemRangeGetAttributes,
               (void** data, size_t* sizes, cudaMemRangeAttribute* attributes, size_t wanted,
                const void* pointer, size_t count),
               data, sizes, attributes, wanted, pointer, count)
