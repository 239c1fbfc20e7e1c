// Cases about physical memory, reached as PyTorch does: by asking the runtime for the driver's
// functions.
#include <cstdint>

#include "tests/hooks/victim.h"

namespace {

constexpr std::size_t kBytes = 2 << 20;

template <typename Function>
Function* Ask(const char* name, unsigned version) {
  void* found = nullptr;
  cudaDriverEntryPointQueryResult status{};
  const cudaError_t result =
      cudaGetDriverEntryPointByVersion(name, &found, version, cudaEnableDefault, &status);
  std::printf("%s %u: %d %d %s\n", name, version, result, status,
              found != nullptr ? "there" : "missing");
  return reinterpret_cast<Function*>(found);
}

struct Driver {
  decltype(cuMemCreate)* create = Ask<decltype(cuMemCreate)>("cuMemCreate", 12000);
  decltype(cuMemRelease)* release = Ask<decltype(cuMemRelease)>("cuMemRelease", 12000);
  decltype(cuMemAddressReserve)* reserve =
      Ask<decltype(cuMemAddressReserve)>("cuMemAddressReserve", 12000);
  decltype(cuMemMap)* map = Ask<decltype(cuMemMap)>("cuMemMap", 12000);
  decltype(cuMemUnmap)* unmap = Ask<decltype(cuMemUnmap)>("cuMemUnmap", 12000);
  decltype(cuMemRetainAllocationHandle)* retain =
      Ask<decltype(cuMemRetainAllocationHandle)>("cuMemRetainAllocationHandle", 12000);
};

CUmemGenericAllocationHandle Create(const Driver& driver, std::size_t bytes, int device = 0) {
  CUmemAllocationProp properties{};
  properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = device};
  CUmemGenericAllocationHandle handle = 0;
  Say("create", driver.create(&handle, bytes, &properties, 0));
  return handle;
}

// Six handles: released; created only; mapped; unmapped; mapped and released; mapped twice.
void Physical() {
  cudaFree(nullptr);
  const Driver driver;
  CUdeviceptr range = 0;
  Say("reserve", driver.reserve(&range, 16 * kBytes, 0, 0, 0));
  CUmemGenericAllocationHandle handles[6];
  for (auto& handle : handles) handle = Create(driver, kBytes);
  Say("release", driver.release(handles[0]));
  for (unsigned i = 2; i < 6; ++i)
    Say("map", driver.map(range + i * kBytes, kBytes, 0, handles[i], 0));
  Say("map again", driver.map(range + 6 * kBytes, kBytes, 0, handles[5], 0));
  Say("unmap", driver.unmap(range + 3 * kBytes, kBytes));
  Say("release", driver.release(handles[4]));
  Say("unmap", driver.unmap(range + 5 * kBytes, kBytes));
}

// The second device's memory goes while the first one is current, once at its release and once at
// its unmapping.
void FarPhysical() {
  Say("set", cudaSetDevice(1));
  Say("use", cudaFree(nullptr));
  Say("back", cudaSetDevice(0));
  Say("use", cudaFree(nullptr));
  const Driver driver;
  CUdeviceptr range = 0;
  Say("reserve", driver.reserve(&range, 8 * kBytes, 0, 0, 0));
  const CUmemGenericAllocationHandle first = Create(driver, 4 * kBytes, 1);
  const CUmemGenericAllocationHandle second = Create(driver, 4 * kBytes, 1);
  Say("release", driver.release(first));
  Say("map", driver.map(range, 4 * kBytes, 0, second, 0));
  Say("release", driver.release(second));
  Say("unmap", driver.unmap(range, 4 * kBytes));
  std::size_t left = 0;
  std::size_t total = 0;
  Say("set", cudaSetDevice(1));
  Say("info", cudaMemGetInfo(&left, &total));
  std::printf("used %zu\n", total - left);
}

// Refused calls change nothing and have the driver's own codes.
void Refused() {
  cudaFree(nullptr);
  const Driver driver;
  CUdeviceptr range = 0;
  Say("reserve", driver.reserve(&range, 4 * kBytes, 0, 0, 0));
  const CUmemGenericAllocationHandle handle = Create(driver, kBytes);
  Say("map", driver.map(range, kBytes, 0, handle, 0));
  Say("half an unmap", driver.unmap(range, kBytes / 2));
  Say("map over it", driver.map(range, kBytes, 0, handle, 0));
  Say("unmap nothing", driver.unmap(range + kBytes, kBytes));
  Say("too much", static_cast<int>(Create(driver, std::size_t{1} << 40) != 0));
  CUmemGenericAllocationHandle other = 0;
  Say("no properties", driver.create(&other, kBytes, nullptr, 0));
  Say("no place", driver.create(nullptr, kBytes, nullptr, 0));
}

// The same question gets the same answer; what is too old for a function, or unknown, stays
// missing.
void LookUps() {
  cudaFree(nullptr);
  auto* const first = Ask<void()>("cuMemCreate", 12000);
  auto* const second = Ask<void()>("cuMemCreate", 12000);
  Say("same", first == second);
  Ask<void()>("cuMemCreate", 9000);
  Ask<void()>("cuNoSuchFunction", 12000);
  Ask<void()>("cuMemGetInfo", 12000);
  void* found = nullptr;
  Say("no status",
      cudaGetDriverEntryPointByVersion("cuMemCreate", &found, 12000, cudaEnableDefault, nullptr));
  Say("last", cudaGetLastError());
}

}  // namespace

constexpr Case kPhysicalCases[] = {{"physical", Physical},
                                   {"far-physical", FarPhysical},
                                   {"refused", Refused},
                                   {"look-ups", LookUps},
                                   {nullptr, nullptr}};
