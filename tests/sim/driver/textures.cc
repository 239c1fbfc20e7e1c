// Texture and surface objects: records of what kernels would sample, since none does.
#include <optional>

#include "tests/sim/driver/support.h"
#include "tests/sim/driver/texture_checks.h"
#include "tests/sim/engine/array.h"
#include "tests/sim/engine/handle_pool.h"

namespace cuheap::sim {
namespace {

struct Texture {
  std::uint64_t context_id = 0;
  CUDA_RESOURCE_DESC resource{};
  CUDA_TEXTURE_DESC texture{};
  std::optional<CUDA_RESOURCE_VIEW_DESC> view;
};

struct Surface {
  std::uint64_t context_id = 0;
  CUDA_RESOURCE_DESC resource{};
};

HandlePool<Texture>& Textures() {
  static auto& pool = *new HandlePool<Texture>;
  return pool;
}
HandlePool<Surface>& Surfaces() {
  static auto& pool = *new HandlePool<Surface>;
  return pool;
}

// An object of the current context: those of a context that was made anew are gone.
template <class Object>
CUresult ObjectOf(HandlePool<Object>& pool, unsigned long long handle, Object** out) {
  Context* context = nullptr;
  CUHEAP_SIM_TRY(CurrentContext(&context));
  *out = pool.Find(reinterpret_cast<const void*>(handle));
  return *out != nullptr && (*out)->context_id == context->id ? CUDA_SUCCESS
                                                              : CUDA_ERROR_INVALID_VALUE;
}

template <class Object>
CUresult Destroy(HandlePool<Object>& pool, unsigned long long handle) {
  const EngineLock lock;
  Object* object = nullptr;
  CUHEAP_SIM_TRY(ObjectOf(pool, handle, &object));
  pool.Delete(object);
  return CUDA_SUCCESS;
}

// One of the descriptions that the object was made with.
template <class Object, class Description>
CUresult Describe(HandlePool<Object>& pool, unsigned long long handle, Description Object::*member,
                  Description* out) {
  CUHEAP_SIM_TRY(NeedPointers(out));
  const EngineLock lock;
  Object* object = nullptr;
  CUHEAP_SIM_TRY(ObjectOf(pool, handle, &object));
  *out = object->*member;
  return CUDA_SUCCESS;
}

template <class Object>
unsigned long long HandleOf(Object* object) {
  return reinterpret_cast<std::uintptr_t>(object);
}

}  // namespace

// PARTIAL: nothing is ever sampled, and a resource that is freed leaves the object as it is.
CUresult face::TexObjectCreate(CUtexObject* out, const CUDA_RESOURCE_DESC* resource,
                               const CUDA_TEXTURE_DESC* texture,
                               const CUDA_RESOURCE_VIEW_DESC* view) {
  CUHEAP_SIM_TRY(NeedPointers(out, resource, texture));
  Context* context = nullptr;
  CUHEAP_SIM_TRY(CurrentContext(&context));
  const EngineLock lock;
  CUHEAP_SIM_TRY(CheckResource(context->device, *resource));
  CUHEAP_SIM_TRY(CheckTexture(*resource, *texture));
  if (view != nullptr) CUHEAP_SIM_TRY(CheckView(*resource, *view));
  Texture* object = Textures().New();
  object->context_id = context->id;
  object->resource = *resource;
  object->texture = *texture;
  if (view != nullptr) object->view = *view;
  *out = HandleOf(object);
  return CUDA_SUCCESS;
}
CUresult face::TexObjectDestroy(CUtexObject handle) { return Destroy(Textures(), handle); }
CUresult face::TexObjectGetResourceDesc(CUDA_RESOURCE_DESC* out, CUtexObject handle) {
  return Describe(Textures(), handle, &Texture::resource, out);
}
CUresult face::TexObjectGetTextureDesc(CUDA_TEXTURE_DESC* out, CUtexObject handle) {
  return Describe(Textures(), handle, &Texture::texture, out);
}
CUresult face::TexObjectGetResourceViewDesc(CUDA_RESOURCE_VIEW_DESC* out, CUtexObject handle) {
  CUHEAP_SIM_TRY(NeedPointers(out));
  const EngineLock lock;
  Texture* object = nullptr;
  CUHEAP_SIM_TRY(ObjectOf(Textures(), handle, &object));
  if (!object->view) return CUDA_ERROR_INVALID_VALUE;
  *out = *object->view;
  return CUDA_SUCCESS;
}

// PARTIAL: nothing is ever loaded or stored, and an array that is destroyed leaves the object as it
// is.
CUresult face::SurfObjectCreate(CUsurfObject* out, const CUDA_RESOURCE_DESC* resource) {
  CUHEAP_SIM_TRY(NeedPointers(out, resource));
  Context* context = nullptr;
  CUHEAP_SIM_TRY(CurrentContext(&context));
  if (resource->resType != CU_RESOURCE_TYPE_ARRAY) return CUDA_ERROR_INVALID_VALUE;
  const EngineLock lock;
  CUHEAP_SIM_TRY(CheckResource(context->device, *resource));
  const Array* array = FindArray(resource->res.array.hArray);
  if ((array->descriptor.Flags & CUDA_ARRAY3D_SURFACE_LDST) == 0) return CUDA_ERROR_INVALID_VALUE;
  Surface* object = Surfaces().New();
  object->context_id = context->id;
  object->resource = *resource;
  *out = HandleOf(object);
  return CUDA_SUCCESS;
}
CUresult face::SurfObjectDestroy(CUsurfObject handle) { return Destroy(Surfaces(), handle); }
CUresult face::SurfObjectGetResourceDesc(CUDA_RESOURCE_DESC* out, CUsurfObject handle) {
  return Describe(Surfaces(), handle, &Surface::resource, out);
}

CUresult face::DeviceGetTexture1DLinearMaxWidth(size_t* out, CUarray_format format,
                                                unsigned channels, CUdevice device) {
  CUHEAP_SIM_TRY(NeedPointers(out));
  CUHEAP_SIM_TRY(NeedDevice(device));
  const auto element = FormatOf(format, channels);
  if (!element || element->block != 1 || element->planes != 1) return CUDA_ERROR_INVALID_VALUE;
  int most = 0;
  DeviceAttribute(device, CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_LINEAR_WIDTH, &most);
  *out = static_cast<size_t>(most);
  return CUDA_SUCCESS;
}

}  // namespace cuheap::sim
