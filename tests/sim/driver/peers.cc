// Peers: which devices reach each other, and contexts that open their memory to each other.
#include <algorithm>

#include "tests/sim/driver/support.h"
#include "tests/sim/engine/peer_access.h"
#include "tests/sim/engine/settings.h"

namespace cuheap::sim {
namespace {

CUresult NeedTwoDevices(int from, int to) {
  CUHEAP_SIM_TRY(NeedDevice(from));
  CUHEAP_SIM_TRY(NeedDevice(to));
  return from == to ? CUDA_ERROR_INVALID_DEVICE : CUDA_SUCCESS;
}

// A link carries all atomic operations, as an NVLink does.
unsigned AtomicsOfLink(CUatomicOperation operation) {
  constexpr unsigned kScalars = CU_ATOMIC_CAPABILITY_SCALAR_32 | CU_ATOMIC_CAPABILITY_SCALAR_64;
  constexpr unsigned kReduced = kScalars | CU_ATOMIC_CAPABILITY_REDUCTION;
  constexpr unsigned kSigns = CU_ATOMIC_CAPABILITY_SIGNED | CU_ATOMIC_CAPABILITY_UNSIGNED;
  switch (operation) {
    case CU_ATOMIC_OPERATION_EXCHANGE:
    case CU_ATOMIC_OPERATION_CAS:
      return kScalars | CU_ATOMIC_CAPABILITY_SCALAR_128;
    case CU_ATOMIC_OPERATION_FLOAT_ADD:
      return kReduced | CU_ATOMIC_CAPABILITY_VECTOR_32x4;
    case CU_ATOMIC_OPERATION_FLOAT_MIN:
    case CU_ATOMIC_OPERATION_FLOAT_MAX:
      return kReduced;
    default:
      return kReduced | kSigns;
  }
}

CUresult CheckOperations(const unsigned* out, const CUatomicOperation* operations, unsigned count) {
  CUHEAP_SIM_TRY(NeedPointers(out, operations));
  const bool known = std::all_of(operations, operations + count, [](CUatomicOperation operation) {
    return operation >= 0 && operation < CU_ATOMIC_OPERATION_MAX;
  });
  return count != 0 && known ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult PeersOf(CUcontext handle, Context** context, Context** peer) {
  CUHEAP_SIM_TRY(CurrentContext(context));
  *peer = FindContext(handle);
  return *peer == nullptr || !(*peer)->alive ? CUDA_ERROR_INVALID_CONTEXT : CUDA_SUCCESS;
}

}  // namespace

CUresult face::DeviceCanAccessPeer(int* can, CUdevice device, CUdevice peer) {
  CUHEAP_SIM_TRY(NeedPointers(can));
  CUHEAP_SIM_TRY(NeedDevice(device));
  CUHEAP_SIM_TRY(NeedDevice(peer));
  *can = TheSettings().peers.Connect(device, peer) ? 1 : 0;
  return CUDA_SUCCESS;
}

CUresult face::DeviceGetP2PAttribute(int* value, CUdevice_P2PAttribute attribute, CUdevice from,
                                     CUdevice to) {
  CUHEAP_SIM_TRY(NeedPointers(value));
  CUHEAP_SIM_TRY(NeedTwoDevices(from, to));
  const int linked = TheSettings().peers.Connect(from, to) ? 1 : 0;
  switch (attribute) {
    case CU_DEVICE_P2P_ATTRIBUTE_PERFORMANCE_RANK:
    case CU_DEVICE_P2P_ATTRIBUTE_ONLY_PARTIAL_NATIVE_ATOMIC_SUPPORTED:
      *value = 0;
      return CUDA_SUCCESS;
    case CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED:
    case CU_DEVICE_P2P_ATTRIBUTE_NATIVE_ATOMIC_SUPPORTED:
    case CU_DEVICE_P2P_ATTRIBUTE_CUDA_ARRAY_ACCESS_SUPPORTED:
      *value = linked;
      return CUDA_SUCCESS;
    default:
      return CUDA_ERROR_INVALID_VALUE;
  }
}

CUresult face::DeviceGetP2PAtomicCapabilities(unsigned* out, const CUatomicOperation* operations,
                                              unsigned count, CUdevice from, CUdevice to) {
  CUHEAP_SIM_TRY(NeedTwoDevices(from, to));
  CUHEAP_SIM_TRY(CheckOperations(out, operations, count));
  const bool linked = TheSettings().peers.Connect(from, to);
  for (unsigned i = 0; i < count; ++i) out[i] = linked ? AtomicsOfLink(operations[i]) : 0;
  return CUDA_SUCCESS;
}

// As CU_DEVICE_ATTRIBUTE_HOST_NATIVE_ATOMIC_SUPPORTED says: none.
CUresult face::DeviceGetHostAtomicCapabilities(unsigned* out, const CUatomicOperation* operations,
                                               unsigned count, CUdevice device) {
  CUHEAP_SIM_TRY(NeedDevice(device));
  CUHEAP_SIM_TRY(CheckOperations(out, operations, count));
  std::fill_n(out, count, 0U);
  return CUDA_SUCCESS;
}

CUresult face::CtxEnablePeerAccess(CUcontext handle, unsigned flags) {
  if (flags != 0) return CUDA_ERROR_INVALID_VALUE;
  Context* context = nullptr;
  Context* peer = nullptr;
  CUHEAP_SIM_TRY(PeersOf(handle, &context, &peer));
  return EnablePeer(context, peer);
}

CUresult face::CtxDisablePeerAccess(CUcontext handle) {
  Context* context = nullptr;
  Context* peer = nullptr;
  CUHEAP_SIM_TRY(PeersOf(handle, &context, &peer));
  return DisablePeer(context, peer);
}

}  // namespace cuheap::sim
