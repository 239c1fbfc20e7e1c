#include "tests/sim/engine/green_context.h"

#include <algorithm>
#include <cstring>

#include "tests/sim/engine/engine_lock.h"
#include "tests/sim/engine/handle_pool.h"
#include "tests/sim/engine/settings.h"

namespace cuheap::sim {
namespace {

// Of partitions: the fewest multiprocessors, and their steps. As the documentation guides for each
// architecture.
struct Grain {
  unsigned least;
  unsigned step;
};
constexpr Grain kApart{2, 2};  // where they need not be scheduled together

Grain GrainOfDevice() {
  const int major = TheSettings().capability.major;
  if (major >= 9) return {8, 8};
  return major == 8 ? Grain{4, 2} : Grain{2, 2};
}

// What the padding of a resource says: where it came from.
struct Origin {
  std::uint64_t mark;
  std::uint64_t split;  // 0: not the result of one
  std::int32_t device;
};
constexpr std::uint64_t kMark = 0x63756865'61702d73;
static_assert(sizeof(Origin) <= sizeof(CUdevResource::_internal_padding));

struct Description {
  int device = 0;
  unsigned multiprocessors = 0;
};

HandlePool<Description>& Descriptions() {
  static auto& pool = *new HandlePool<Description>;
  return pool;
}

// A green context's object stays, so that its handle still says what became of it.
HandlePool<GreenContext>& Greens() {
  static auto& pool = *new HandlePool<GreenContext>;
  return pool;
}

Origin OriginOf(const CUdevResource& resource) {
  Origin origin{};
  std::memcpy(&origin, resource._internal_padding, sizeof(origin));
  return origin;
}

CUdevResource Resource(const Origin& origin, unsigned multiprocessors, const Grain& grain) {
  CUdevResource resource{};
  resource.type = CU_DEV_RESOURCE_TYPE_SM;
  std::memcpy(resource._internal_padding, &origin, sizeof(origin));
  resource.sm.smCount = multiprocessors;
  resource.sm.minSmPartitionSize = grain.least;
  resource.sm.smCoscheduledAlignment = grain.step;
  return resource;
}

bool IsResource(const CUdevResource& resource) {
  return resource.type == CU_DEV_RESOURCE_TYPE_SM && OriginOf(resource).mark == kMark;
}

}  // namespace

CUdevResource ResourceOfDevice(int device) {
  return Resource({kMark, 0, device}, static_cast<unsigned>(TheSettings().sms), GrainOfDevice());
}

CUdevResource ResourceOfContext(const Context& context) {
  const EngineLock lock;
  const GreenContext* green = GreenOf(context);
  return green != nullptr ? green->resource : ResourceOfDevice(context.device);
}

CUresult SplitResource(const CUdevResource& input, unsigned flags, unsigned least, unsigned* groups,
                       CUdevResource* result, CUdevResource* rest) {
  if (input.type != CU_DEV_RESOURCE_TYPE_SM) return CUDA_ERROR_INVALID_RESOURCE_TYPE;
  Origin origin = OriginOf(input);
  if (origin.mark != kMark) return CUDA_ERROR_INVALID_VALUE;
  if (origin.split != 0) return CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION;
  const unsigned all = input.sm.smCount;
  if (least > all) return CUDA_ERROR_INVALID_VALUE;
  const bool apart = (flags & CU_DEV_SM_RESOURCE_SPLIT_IGNORE_SM_COSCHEDULING) != 0;
  const Grain grain = apart ? kApart : GrainOfDevice();
  const unsigned size = std::max((least + grain.step - 1) / grain.step * grain.step, grain.least);
  unsigned count = all / size;
  if (result != nullptr) count = std::min(count, *groups);
  const EngineLock lock;
  static std::uint64_t splits = 0;
  origin.split = ++splits;
  for (unsigned i = 0; result != nullptr && i < count; ++i)
    result[i] = Resource(origin, size, grain);
  if (rest != nullptr) *rest = Resource(origin, all - count * size, grain);
  if (rest != nullptr && count * size == all) rest->type = CU_DEV_RESOURCE_TYPE_INVALID;
  *groups = count;
  return CUDA_SUCCESS;
}

CUresult DescribeResources(const CUdevResource* resources, unsigned count, CUdevResourceDesc* out) {
  Description description;
  for (unsigned i = 0; i < count; ++i) {
    if (resources[i].type != CU_DEV_RESOURCE_TYPE_SM) return CUDA_ERROR_INVALID_RESOURCE_TYPE;
    if (!IsResource(resources[i])) return CUDA_ERROR_INVALID_VALUE;
    const Origin first = OriginOf(resources[0]);
    const Origin origin = OriginOf(resources[i]);
    if (origin.device != first.device || origin.split != first.split ||
        (count > 1 && origin.split == 0)) {
      return CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION;
    }
    description.device = origin.device;
    description.multiprocessors += resources[i].sm.smCount;
  }
  *out = reinterpret_cast<CUdevResourceDesc>(Descriptions().New(description));
  return CUDA_SUCCESS;
}

CUresult CreateGreen(CUdevResourceDesc handle, int device, GreenContext** out) {
  const Description* description = Descriptions().Find(handle);
  if (description == nullptr || description->device != device) return CUDA_ERROR_INVALID_VALUE;
  const EngineLock lock;
  Context* primary = nullptr;
  const CUresult result = RetainPrimary(device, &primary);
  if (result != CUDA_SUCCESS) return result;
  static std::uint64_t last_id = 0;
  *out = Greens().New();
  (*out)->context = BeginGreen(primary);
  (*out)->resource = Resource({kMark, 0, device}, description->multiprocessors, GrainOfDevice());
  (*out)->id = ++last_id;
  return CUDA_SUCCESS;
}

void DestroyGreen(GreenContext* green) {
  const EngineLock lock;
  const int device = green->context->device;
  EndGreen(green->context);
  green->context = nullptr;
  ReleasePrimary(device);
}

GreenContext* FindGreen(CUgreenCtx handle) { return Greens().Find(handle); }

GreenContext* GreenOf(const Context& context) {
  if (context.parent == nullptr) return nullptr;
  const EngineLock lock;
  GreenContext* found = nullptr;
  Greens().ForEach([&](GreenContext* green) {
    if (green->context == &context) found = green;
  });
  return found;
}

}  // namespace cuheap::sim
