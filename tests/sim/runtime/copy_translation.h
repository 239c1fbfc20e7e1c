// Descriptions of copies as the driver takes them, shared by copies and by graph nodes, and the
// checks that the runtime documents and the driver does not make.
//
// Threads: any.
#pragma once

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <cstddef>

#include "tests/sim/runtime/driver.h"

namespace cuheap::sim_runtime {

inline constexpr auto kInvalidDirection = static_cast<CUresult>(cudaErrorInvalidMemcpyDirection);
inline constexpr auto kInvalidPitch = static_cast<CUresult>(cudaErrorInvalidPitchValue);

// kInvalidDirection: none of the kinds. Which one it is does not matter: addresses are unified.
CUresult CheckDirection(cudaMemcpyKind kind);

// kInvalidPitch: rows of `width` bytes do not fit into it, or no device can have it.
CUresult CheckPitch(const Driver& driver, std::size_t pitch, std::size_t width);
// The same for the sides of a box that are memory. A pitch of 0 serves one row.
CUresult CheckPitches(const Driver& driver, const CUDA_MEMCPY3D& box);
CUresult CheckPitches(const Driver& driver, const CUDA_MEMCPY3D_PEER& box);

// False: an array that does not live, or both an array and a pointer on one side.
bool TranslateCopy(const cudaMemcpy3DParms& from, CUDA_MEMCPY3D* to);
// The same; the contexts are left to the caller.
bool TranslateCopy(const cudaMemcpy3DPeerParms& from, CUDA_MEMCPY3D_PEER* to);

}  // namespace cuheap::sim_runtime
