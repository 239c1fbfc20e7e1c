// What a texture or a surface may be made of.
#pragma once

#include <cuda.h>

namespace cuheap::sim {

// INVALID_VALUE: no such resource, or one that the device cannot read as a texture.
CUresult CheckResource(int device, const CUDA_RESOURCE_DESC& resource);
// REQUIRES of both: a resource that was checked.
CUresult CheckTexture(const CUDA_RESOURCE_DESC& resource, const CUDA_TEXTURE_DESC& texture);
CUresult CheckView(const CUDA_RESOURCE_DESC& resource, const CUDA_RESOURCE_VIEW_DESC& view);

}  // namespace cuheap::sim
