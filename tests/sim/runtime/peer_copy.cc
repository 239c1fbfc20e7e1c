// Copies that name the devices of both sides. Those without a stream come after all work of these
// devices and of the current one, in whatever stream, and before what follows: they wait for the
// devices, and for themselves.
#include <initializer_list>

#include "tests/sim/runtime/copy_translation.h"
#include "tests/sim/runtime/export.h"

using namespace cuheap::sim_runtime;

namespace {

CUresult ContextsOf(int target_device, int source_device, CUcontext* target, CUcontext* source) {
  const CUresult result = PrimaryContext(target_device, target);
  return result == CUDA_SUCCESS ? PrimaryContext(source_device, source) : result;
}

CUresult TranslatePeers(const Driver& driver, const cudaMemcpy3DPeerParms* from,
                        CUDA_MEMCPY3D_PEER* to) {
  if (from == nullptr || !TranslateCopy(*from, to)) return CUDA_ERROR_INVALID_VALUE;
  const CUresult result =
      ContextsOf(from->dstDevice, from->srcDevice, &to->dstContext, &to->srcContext);
  return result == CUDA_SUCCESS ? CheckPitches(driver, *to) : result;
}

// The current context stays the current one.
CUresult WaitForDevices(const Driver& driver, CUcontext target, CUcontext source) {
  CUcontext current = nullptr;
  CUresult result = driver.cuCtxGetCurrent(&current);
  if (result == CUDA_SUCCESS) result = driver.cuCtxSynchronize();
  for (CUcontext other : {target, source}) {
    if (result != CUDA_SUCCESS || other == current) continue;
    result = driver.cuCtxSetCurrent(other);
    if (result != CUDA_SUCCESS) return result;
    result = driver.cuCtxSynchronize();
    const CUresult back = driver.cuCtxSetCurrent(current);
    if (result == CUDA_SUCCESS) result = back;
  }
  return result;
}

}  // namespace

CUHEAP_TWO_FACES(cudaMemcpyPeer, _ptds,
                 (void* target, int target_device, const void* source, int source_device,
                  size_t count),
                 target, target_device, source, source_device, count) {
  CUcontext to = nullptr;
  CUcontext from = nullptr;
  CUresult result = ContextsOf(target_device, source_device, &to, &from);
  if (result != CUDA_SUCCESS || count == 0) return result;
  result = WaitForDevices(driver, to, from);
  if (result != CUDA_SUCCESS) return result;
  return Call(driver.cuMemcpyPeer, target, to, source, from, count);
}

CUHEAP_TWO_FACES(cudaMemcpyPeerAsync, _ptsz,
                 (void* target, int target_device, const void* source, int source_device,
                  size_t count, cudaStream_t stream),
                 target, target_device, source, source_device, count, stream) {
  CUcontext to = nullptr;
  CUcontext from = nullptr;
  const CUresult result = ContextsOf(target_device, source_device, &to, &from);
  if (result != CUDA_SUCCESS || count == 0) return result;
  return Call(driver.cuMemcpyPeerAsync, target, to, source, from, count, stream);
}

CUHEAP_TWO_FACES(cudaMemcpy3DPeer, _ptds, (const cudaMemcpy3DPeerParms* copy), copy) {
  CUDA_MEMCPY3D_PEER volume{};
  CUresult result = TranslatePeers(driver, copy, &volume);
  if (result == CUDA_SUCCESS) {
    result = WaitForDevices(driver, volume.dstContext, volume.srcContext);
  }
  return result == CUDA_SUCCESS ? driver.cuMemcpy3DPeer(&volume) : result;
}

CUHEAP_TWO_FACES(cudaMemcpy3DPeerAsync, _ptsz,
                 (const cudaMemcpy3DPeerParms* copy, cudaStream_t stream), copy, stream) {
  CUDA_MEMCPY3D_PEER volume{};
  const CUresult result = TranslatePeers(driver, copy, &volume);
  return result == CUDA_SUCCESS ? driver.cuMemcpy3DPeerAsync(&volume, stream) : result;
}
