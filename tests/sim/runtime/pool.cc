// Stream-ordered memory and its pools.
#include "tests/sim/runtime/export.h"

using namespace cuheap::sim_runtime;

CUHEAP_FORWARD_STREAM(cudaMallocAsync, _ptsz, cuMemAllocAsync,
                      (void** pointer, size_t size, cudaStream_t stream), pointer, size, stream)
CUHEAP_FORWARD_STREAM(cudaMallocFromPoolAsync, _ptsz, cuMemAllocFromPoolAsync,
                      (void** pointer, size_t size, cudaMemPool_t pool, cudaStream_t stream),
                      pointer, size, pool, stream)
CUHEAP_FORWARD_STREAM(cudaFreeAsync, _ptsz, cuMemFreeAsync, (void* pointer, cudaStream_t stream),
                      pointer, stream)

CUHEAP_FORWARD(cudaMemPoolCreate, cuMemPoolCreate,
               (cudaMemPool_t * pool, const cudaMemPoolProps* properties), pool, properties)
CUHEAP_FORWARD(cudaMemPoolDestroy, cuMemPoolDestroy, (cudaMemPool_t pool), pool)
CUHEAP_FORWARD(cudaMemPoolTrimTo, cuMemPoolTrimTo, (cudaMemPool_t pool, size_t keep), pool, keep)
CUHEAP_FORWARD(cudaMemPoolSetAttribute, cuMemPoolSetAttribute,
               (cudaMemPool_t pool, cudaMemPoolAttr attribute, void* value), pool, attribute, value)
CUHEAP_FORWARD(cudaMemPoolGetAttribute, cuMemPoolGetAttribute,
               (cudaMemPool_t pool, cudaMemPoolAttr attribute, void* value), pool, attribute, value)
CUHEAP_FORWARD(cudaMemPoolSetAccess, cuMemPoolSetAccess,
               (cudaMemPool_t pool, const cudaMemAccessDesc* descriptions, size_t count), pool,
               descriptions, count)
CUHEAP_FORWARD(cudaMemPoolGetAccess, cuMemPoolGetAccess,
               (cudaMemAccessFlags * flags, cudaMemPool_t pool, cudaMemLocation* location), flags,
               pool, location)
CUHEAP_FORWARD(cudaMemPoolExportToShareableHandle, cuMemPoolExportToShareableHandle,
               (void* handle, cudaMemPool_t pool, cudaMemAllocationHandleType type,
                unsigned int flags),
               handle, pool, type, flags)
CUHEAP_FORWARD(cudaMemPoolImportFromShareableHandle, cuMemPoolImportFromShareableHandle,
               (cudaMemPool_t * pool, void* handle, cudaMemAllocationHandleType type,
                unsigned int flags),
               pool, handle, type, flags)
CUHEAP_FORWARD(cudaMemPoolExportPointer, cuMemPoolExportPointer,
               (cudaMemPoolPtrExportData * data, void* pointer), data, pointer)
CUHEAP_FORWARD(cudaMemPoolImportPointer, cuMemPoolImportPointer,
               (void** pointer, cudaMemPool_t pool, cudaMemPoolPtrExportData* data), pointer, pool,
               data)
CUHEAP_FORWARD(cudaDeviceGetDefaultMemPool, cuDeviceGetDefaultMemPool,
               (cudaMemPool_t * pool, int device), pool, device)
CUHEAP_FORWARD(cudaDeviceGetMemPool, cuDeviceGetMemPool, (cudaMemPool_t * pool, int device), pool,
               device)
CUHEAP_FORWARD(cudaDeviceSetMemPool, cuDeviceSetMemPool, (int device, cudaMemPool_t pool), device,
               pool)
CUHEAP_FORWARD(cudaMemGetDefaultMemPool, cuMemGetDefaultMemPool,
               (cudaMemPool_t * pool, cudaMemLocation* location, cudaMemAllocationType type), pool,
               location, type)
CUHEAP_FORWARD(cudaMemGetMemPool, cuMemGetMemPool,
               (cudaMemPool_t * pool, cudaMemLocation* location, cudaMemAllocationType type), pool,
               location, type)
CUHEAP_FORWARD(cudaMemSetMemPool, cuMemSetMemPool,
               (cudaMemLocation * location, cudaMemAllocationType type, cudaMemPool_t pool),
               location, type, pool)
CUHEAP_FORWARD(cudaDeviceGetGraphMemAttribute, cuDeviceGetGraphMemAttribute,
               (int device, cudaGraphMemAttributeType attribute, void* value), device, attribute,
               value)
CUHEAP_FORWARD(cudaDeviceSetGraphMemAttribute, cuDeviceSetGraphMemAttribute,
               (int device, cudaGraphMemAttributeType attribute, void* value), device, attribute,
               value)
CUHEAP_FORWARD(cudaDeviceGraphMemTrim, cuDeviceGraphMemTrim, (int device), device)
