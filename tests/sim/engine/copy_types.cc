#include "tests/sim/engine/copy_types.h"

#include "tests/sim/engine/access_rights.h"
#include "tests/sim/engine/allocation_table.h"

namespace cuheap::sim {
namespace {

CUmemorytype TypeOf(const ArraySide* array, CUmemorytype said, std::uintptr_t address) {
  if (array != nullptr) return CU_MEMORYTYPE_ARRAY;
  if (said != CU_MEMORYTYPE_UNIFIED) return said;
  const Allocation* block = FindAllocation(address);
  return block == nullptr || IsHostMemory(*block) ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
}

}  // namespace

CUmemorytype SourceTypeOf(const CopyOp& copy) {
  const CUmemorytype said = copy.box == nullptr ? CU_MEMORYTYPE_UNIFIED : copy.box->srcMemoryType;
  return TypeOf(copy.from_array.get(), said, copy.from);
}

CUmemorytype TargetTypeOf(const CopyOp& copy) {
  const CUmemorytype said = copy.box == nullptr ? CU_MEMORYTYPE_UNIFIED : copy.box->dstMemoryType;
  return TypeOf(copy.to_array.get(), said, copy.to);
}

}  // namespace cuheap::sim
