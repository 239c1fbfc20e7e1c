// Facts about sizes: nothing, alignment, what is charged.
#include <cstdint>

#include "tests/contract/fact_answers.h"

namespace cuheap::contract {
namespace {

constexpr std::uintptr_t kUntouched = 0xdead0000;

template <class Result>
std::string CodeAndOutput(Result code, std::uintptr_t output) {
  const char* const kind = output == kUntouched ? "untouched" : output == 0 ? "null" : "an address";
  return Say(code) + ", output " + kind;
}

std::string RuntimeZero(cudaError_t (*allocate)(void**)) {
  if (!RuntimeIsThere()) return "no runtime here";
  void* out = reinterpret_cast<void*>(kUntouched);
  Runtime().cudaSetDevice(0);
  const cudaError_t code = allocate(&out);
  return CodeAndOutput(code, reinterpret_cast<std::uintptr_t>(out));
}

}  // namespace

std::string Answer_zero_driver() {
  UsePrimary();
  CUdeviceptr out = kUntouched;
  const CUresult code = D().cuMemAlloc(&out, 0);
  return CodeAndOutput(code, out);
}

std::string Answer_zero_runtime() {
  return RuntimeZero([](void** out) { return Runtime().cudaMalloc(out, 0); });
}

std::string Answer_zero_async() {
  UsePrimary();
  CUdeviceptr out = kUntouched;
  const CUresult code = D().cuMemAllocAsync(&out, 0, nullptr);
  return CodeAndOutput(code, out);
}

std::string Answer_zero_runtime_async() {
  return RuntimeZero([](void** out) { return Runtime().cudaMallocAsync(out, 0, nullptr); });
}

std::string Answer_zero_host() {
  return RuntimeZero([](void** out) { return Runtime().cudaMallocHost(out, 0); });
}

std::string Answer_alignment() {
  UsePrimary();
  std::uintptr_t bits = 0;
  for (int count = 0; count < 64; ++count) bits |= Block(1);
  return std::to_string(bits & ~(bits - 1));
}

std::string Answer_smallest_charge() {
  UsePrimary();
  std::size_t before = 0;
  std::size_t after = 0;
  std::size_t total = 0;
  D().cuMemGetInfo(&before, &total);
  Block(1);
  D().cuMemGetInfo(&after, &total);
  return std::to_string(before - after);
}

std::string Answer_granularity() {
  UsePrimary();
  CUmemAllocationProp properties{};
  properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
  std::size_t least = 0;
  std::size_t best = 0;
  D().cuMemGetAllocationGranularity(&least, &properties, CU_MEM_ALLOC_GRANULARITY_MINIMUM);
  D().cuMemGetAllocationGranularity(&best, &properties, CU_MEM_ALLOC_GRANULARITY_RECOMMENDED);
  return std::to_string(least) + " and " + std::to_string(best);
}

std::string Answer_info_without_outputs() {
  UsePrimary();
  std::size_t value = 0;
  const std::string one = Say(D().cuMemGetInfo(nullptr, &value));
  return one + ", " + Say(D().cuMemGetInfo(nullptr, nullptr));
}

}  // namespace cuheap::contract
