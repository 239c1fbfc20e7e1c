// Objects that graphs keep alive.
#include <climits>

#include "tests/sim/driver/graph_handles.h"
#include "tests/sim/driver/support.h"

namespace cuheap::sim {
namespace {

UserObject* ObjectOf(CUuserObject handle) { return UserObjects().Find(handle); }

bool IsCount(unsigned count) { return count != 0 && count <= INT_MAX; }

}  // namespace

CUresult face::UserObjectCreate(CUuserObject* out, void* data, CUhostFn destroy, unsigned count,
                                unsigned flags) {
  CUHEAP_SIM_TRY(NeedPointers(out, destroy));
  if (flags != CU_USER_OBJECT_NO_DESTRUCTOR_SYNC || !IsCount(count))
    return CUDA_ERROR_INVALID_VALUE;
  *out = Cast<CUuserObject>(UserObjects().New(UserObject{destroy, data, count}));
  return CUDA_SUCCESS;
}

CUresult face::UserObjectRetain(CUuserObject handle, unsigned count) {
  const EngineLock lock;
  UserObject* object = ObjectOf(handle);
  if (object == nullptr || !IsCount(count)) return CUDA_ERROR_INVALID_VALUE;
  object->references += count;
  return CUDA_SUCCESS;
}

CUresult face::UserObjectRelease(CUuserObject handle, unsigned count) {
  const EngineLock lock;
  UserObject* object = ObjectOf(handle);
  if (object == nullptr || !IsCount(count) || count > object->references) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  ReleaseUserObject(object, count);
  return CUDA_SUCCESS;
}

CUresult face::GraphRetainUserObject(CUgraph handle, CUuserObject object_handle, unsigned count,
                                     unsigned flags) {
  const EngineLock lock;
  Graph* graph = nullptr;
  CUHEAP_SIM_TRY(GraphOf(handle, &graph));
  UserObject* object = ObjectOf(object_handle);
  if (object == nullptr || !IsCount(count) || (flags & ~CU_GRAPH_USER_OBJECT_MOVE) != 0) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  // MOVE hands over references that the caller holds.
  if ((flags & CU_GRAPH_USER_OBJECT_MOVE) == 0) object->references += count;
  graph->objects[object] += count;
  return CUDA_SUCCESS;
}

CUresult face::GraphReleaseUserObject(CUgraph handle, CUuserObject object_handle, unsigned count) {
  const EngineLock lock;
  Graph* graph = nullptr;
  CUHEAP_SIM_TRY(GraphOf(handle, &graph));
  const auto found = graph->objects.find(ObjectOf(object_handle));
  if (found == graph->objects.end() || !IsCount(count) || count > found->second) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  found->second -= count;
  UserObject* object = found->first;
  if (found->second == 0) graph->objects.erase(found);
  ReleaseUserObject(object, count);
  return CUDA_SUCCESS;
}

}  // namespace cuheap::sim
