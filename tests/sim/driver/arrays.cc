// Arrays and mipmapped arrays.
#include "tests/sim/driver/support.h"
#include "tests/sim/engine/array.h"
#include "tests/sim/engine/array_mapping.h"
#include "tests/sim/engine/work_queue.h"

namespace cuheap::sim {
namespace {

CUresult PrepareCreation(Context** context) {
  CUHEAP_SIM_TRY(CurrentContext(context));
  return CheckUnsafeCall();
}

CUresult Create(CUarray* out, const CUDA_ARRAY3D_DESCRIPTOR& description) {
  Context* context = nullptr;
  CUHEAP_SIM_TRY(PrepareCreation(&context));
  Array* array = nullptr;
  CUHEAP_SIM_TRY(CreateArray(context, description, &array));
  *out = Cast<CUarray>(array);
  return CUDA_SUCCESS;
}

CUresult ArrayOf(CUarray handle, Array** out) {
  *out = FindArray(handle);
  return *out == nullptr ? CUDA_ERROR_INVALID_HANDLE : CUDA_SUCCESS;
}

CUresult MipmapOf(CUmipmappedArray handle, Mipmap** out) {
  *out = FindMipmap(handle);
  return *out == nullptr ? CUDA_ERROR_INVALID_HANDLE : CUDA_SUCCESS;
}

CUresult Describe(CUarray handle, CUDA_ARRAY3D_DESCRIPTOR* out) {
  CUHEAP_SIM_TRY(NeedContext());
  const EngineLock lock;
  Array* array = nullptr;
  CUHEAP_SIM_TRY(ArrayOf(handle, &array));
  *out = array->descriptor;
  return CUDA_SUCCESS;
}

// Of an array that a two-dimensional description can describe.
CUresult DescribeFlat(CUarray handle, CUDA_ARRAY3D_DESCRIPTOR* out) {
  CUHEAP_SIM_TRY(Describe(handle, out));
  return out->Depth == 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult GiveRequirements(const ArrayStorage& storage, const CUDA_ARRAY3D_DESCRIPTOR& description,
                          CUdevice device, CUDA_ARRAY_MEMORY_REQUIREMENTS* out) {
  CUHEAP_SIM_TRY(NeedDevice(device));
  if ((description.Flags & CUDA_ARRAY3D_DEFERRED_MAPPING) == 0) return CUDA_ERROR_INVALID_VALUE;
  *out = CUDA_ARRAY_MEMORY_REQUIREMENTS{storage.bytes, kTileBytes, {}};
  return CUDA_SUCCESS;
}

CUresult GiveSparseProperties(const ArrayStorage& storage, CUDA_ARRAY_SPARSE_PROPERTIES* out) {
  if (!storage.sparse) return CUDA_ERROR_INVALID_VALUE;
  *out = storage.sparse->properties;
  return CUDA_SUCCESS;
}

}  // namespace

CUresult face::Array3DCreate_v2(CUarray* out, const CUDA_ARRAY3D_DESCRIPTOR* description) {
  CUHEAP_SIM_TRY(NeedPointers(out, description));
  return Create(out, *description);
}
CUresult face::Array3DCreate(CUarray* out, const CUDA_ARRAY3D_DESCRIPTOR_v1* old) {
  CUHEAP_SIM_TRY(NeedPointers(out, old));
  return Create(out,
                {old->Width, old->Height, old->Depth, old->Format, old->NumChannels, old->Flags});
}
CUresult face::ArrayCreate_v2(CUarray* out, const CUDA_ARRAY_DESCRIPTOR* description) {
  CUHEAP_SIM_TRY(NeedPointers(out, description));
  return Create(out, {description->Width, description->Height, 0, description->Format,
                      description->NumChannels, 0});
}
CUresult face::ArrayCreate(CUarray* out, const CUDA_ARRAY_DESCRIPTOR_v1* old) {
  CUHEAP_SIM_TRY(NeedPointers(out, old));
  return Create(out, {old->Width, old->Height, 0, old->Format, old->NumChannels, 0});
}

CUresult face::ArrayDestroy(CUarray handle) {
  CUHEAP_SIM_TRY(NeedContext());
  CUHEAP_SIM_TRY(CheckUnsafeCall());
  Array* array = nullptr;
  CUHEAP_SIM_TRY(ArrayOf(handle, &array));
  if (array->mipmap != nullptr || array->whole != nullptr) return CUDA_ERROR_INVALID_HANDLE;
  WaitForDevice(array->storage->context->device);
  DestroyArray(array);
  return CUDA_SUCCESS;
}

CUresult face::Array3DGetDescriptor_v2(CUDA_ARRAY3D_DESCRIPTOR* out, CUarray handle) {
  CUHEAP_SIM_TRY(NeedPointers(out));
  return Describe(handle, out);
}
CUresult face::Array3DGetDescriptor(CUDA_ARRAY3D_DESCRIPTOR_v1* out, CUarray handle) {
  CUHEAP_SIM_TRY(NeedPointers(out));
  CUDA_ARRAY3D_DESCRIPTOR found{};
  CUHEAP_SIM_TRY(Describe(handle, &found));
  *out = {static_cast<unsigned>(found.Width),
          static_cast<unsigned>(found.Height),
          static_cast<unsigned>(found.Depth),
          found.Format,
          found.NumChannels,
          found.Flags};
  return CUDA_SUCCESS;
}
CUresult face::ArrayGetDescriptor_v2(CUDA_ARRAY_DESCRIPTOR* out, CUarray handle) {
  CUHEAP_SIM_TRY(NeedPointers(out));
  CUDA_ARRAY3D_DESCRIPTOR found{};
  CUHEAP_SIM_TRY(DescribeFlat(handle, &found));
  *out = {found.Width, found.Height, found.Format, found.NumChannels};
  return CUDA_SUCCESS;
}
CUresult face::ArrayGetDescriptor(CUDA_ARRAY_DESCRIPTOR_v1* out, CUarray handle) {
  CUHEAP_SIM_TRY(NeedPointers(out));
  CUDA_ARRAY3D_DESCRIPTOR found{};
  CUHEAP_SIM_TRY(DescribeFlat(handle, &found));
  *out = {static_cast<unsigned>(found.Width), static_cast<unsigned>(found.Height), found.Format,
          found.NumChannels};
  return CUDA_SUCCESS;
}

CUresult face::ArrayGetPlane(CUarray* out, CUarray handle, unsigned plane) {
  CUHEAP_SIM_TRY(NeedPointers(out));
  CUHEAP_SIM_TRY(NeedContext());
  const EngineLock lock;
  Array* array = nullptr;
  CUHEAP_SIM_TRY(ArrayOf(handle, &array));
  if (plane >= array->planes.size()) return CUDA_ERROR_INVALID_VALUE;
  *out = Cast<CUarray>(array->planes[plane]);
  return CUDA_SUCCESS;
}
CUresult face::ArrayGetMemoryRequirements(CUDA_ARRAY_MEMORY_REQUIREMENTS* out, CUarray handle,
                                          CUdevice device) {
  CUHEAP_SIM_TRY(NeedPointers(out));
  const EngineLock lock;
  const Array* array = FindArray(handle);
  if (array == nullptr || array->mipmap != nullptr) return CUDA_ERROR_INVALID_VALUE;
  return GiveRequirements(*array->storage, array->descriptor, device, out);
}
CUresult face::ArrayGetSparseProperties(CUDA_ARRAY_SPARSE_PROPERTIES* out, CUarray handle) {
  CUHEAP_SIM_TRY(NeedPointers(out));
  const EngineLock lock;
  const Array* array = FindArray(handle);
  if (array == nullptr || array->mipmap != nullptr) return CUDA_ERROR_INVALID_VALUE;
  return GiveSparseProperties(*array->storage, out);
}

CUresult face::MipmappedArrayCreate(CUmipmappedArray* out,
                                    const CUDA_ARRAY3D_DESCRIPTOR* description, unsigned levels) {
  CUHEAP_SIM_TRY(NeedPointers(out, description));
  Context* context = nullptr;
  CUHEAP_SIM_TRY(PrepareCreation(&context));
  Mipmap* mipmap = nullptr;
  CUHEAP_SIM_TRY(CreateMipmap(context, *description, levels, &mipmap));
  *out = Cast<CUmipmappedArray>(mipmap);
  return CUDA_SUCCESS;
}
CUresult face::MipmappedArrayDestroy(CUmipmappedArray handle) {
  CUHEAP_SIM_TRY(NeedContext());
  CUHEAP_SIM_TRY(CheckUnsafeCall());
  Mipmap* mipmap = nullptr;
  CUHEAP_SIM_TRY(MipmapOf(handle, &mipmap));
  WaitForDevice(mipmap->storage->context->device);
  DestroyMipmap(mipmap);
  return CUDA_SUCCESS;
}
CUresult face::MipmappedArrayGetLevel(CUarray* out, CUmipmappedArray handle, unsigned level) {
  CUHEAP_SIM_TRY(NeedPointers(out));
  CUHEAP_SIM_TRY(NeedContext());
  const EngineLock lock;
  Mipmap* mipmap = nullptr;
  CUHEAP_SIM_TRY(MipmapOf(handle, &mipmap));
  if (level >= mipmap->levels.size()) return CUDA_ERROR_INVALID_VALUE;
  *out = Cast<CUarray>(mipmap->levels[level]);
  return CUDA_SUCCESS;
}
CUresult face::MipmappedArrayGetMemoryRequirements(CUDA_ARRAY_MEMORY_REQUIREMENTS* out,
                                                   CUmipmappedArray handle, CUdevice device) {
  CUHEAP_SIM_TRY(NeedPointers(out));
  const EngineLock lock;
  const Mipmap* mipmap = FindMipmap(handle);
  if (mipmap == nullptr) return CUDA_ERROR_INVALID_VALUE;
  return GiveRequirements(*mipmap->storage, mipmap->descriptor, device, out);
}
CUresult face::MipmappedArrayGetSparseProperties(CUDA_ARRAY_SPARSE_PROPERTIES* out,
                                                 CUmipmappedArray handle) {
  CUHEAP_SIM_TRY(NeedPointers(out));
  const EngineLock lock;
  const Mipmap* mipmap = FindMipmap(handle);
  if (mipmap == nullptr) return CUDA_ERROR_INVALID_VALUE;
  return GiveSparseProperties(*mipmap->storage, out);
}

CUresult face::MemMapArrayAsync(CUarrayMapInfo* list, unsigned count, CUstream handle) {
  CUHEAP_SIM_TRY(NeedPointers(list));
  if (count == 0) return CUDA_ERROR_INVALID_VALUE;
  Stream* stream = nullptr;
  CUHEAP_SIM_TRY(StreamOf(handle, &stream));
  if (AnyCapture()) {
    const EngineLock lock;
    CUHEAP_SIM_TRY(RefuseOn(stream));
  }
  std::vector<MapArrayOp> operations(count);
  for (unsigned i = 0; i < count; ++i) {
    CUHEAP_SIM_TRY(ReadMapInfo(list[i], stream->context->device, &operations[i]));
  }
  for (MapArrayOp& operation : operations) CUHEAP_SIM_TRY(Submit(stream, std::move(operation)));
  return CUDA_SUCCESS;
}

}  // namespace cuheap::sim
