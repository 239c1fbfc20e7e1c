// Peers: which devices reach each other's memory, and access to it.
#include "tests/sim/runtime/export.h"

using namespace cuheap::sim_runtime;

CUHEAP_FORWARD_DRIVER(cudaDeviceCanAccessPeer, cuDeviceCanAccessPeer,
                      (int* can, int device, int peer), can, device, peer)
CUHEAP_FORWARD_DRIVER(cudaDeviceGetP2PAttribute, cuDeviceGetP2PAttribute,
                      (int* value, cudaDeviceP2PAttr attribute, int source, int target), value,
                      attribute, source, target)
CUHEAP_FORWARD_DRIVER(cudaDeviceGetP2PAtomicCapabilities, cuDeviceGetP2PAtomicCapabilities,
                      (unsigned int* capabilities, const cudaAtomicOperation* operations,
                       unsigned int count, int source, int target),
                      capabilities, operations, count, source, target)
CUHEAP_FORWARD_DRIVER(cudaDeviceGetHostAtomicCapabilities, cuDeviceGetHostAtomicCapabilities,
                      (unsigned int* capabilities, const cudaAtomicOperation* operations,
                       unsigned int count, int device),
                      capabilities, operations, count, device)

namespace {

// The current device and its peer's context. A device is no peer of its own.
CUresult PeerOf(int peer, CUcontext* context) {
  int device = 0;
  CUresult result = CheckDevice(peer);
  if (result == CUDA_SUCCESS) result = CurrentDevice(&device);
  if (result == CUDA_SUCCESS && device == peer) result = CUDA_ERROR_INVALID_DEVICE;
  return result == CUDA_SUCCESS ? PrimaryContext(peer, context) : result;
}

}  // namespace

extern "C" cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned int flags) {
  if (flags != 0) return Record(cudaErrorInvalidValue);
  return InContext(DefaultStream::kLegacy, [&](const Driver& driver) {
    CUcontext context = nullptr;
    CUresult result = PeerOf(peer, &context);
    if (result == CUDA_SUCCESS) result = driver.cuCtxEnablePeerAccess(context, flags);
    return result == CUDA_ERROR_PEER_ACCESS_UNSUPPORTED ? CUDA_ERROR_INVALID_DEVICE : result;
  });
}

extern "C" cudaError_t cudaDeviceDisablePeerAccess(int peer) {
  return InContext(DefaultStream::kLegacy, [&](const Driver& driver) {
    CUcontext context = nullptr;
    const CUresult result = PeerOf(peer, &context);
    return result == CUDA_SUCCESS ? driver.cuCtxDisablePeerAccess(context) : result;
  });
}
