// Which device a program works on where it names none, and which fits its wishes best.
#include <algorithm>
#include <cstring>

#include "tests/sim/runtime/export.h"

using namespace cuheap::sim_runtime;

namespace {

// How many of the properties that are asked for, which are those that are not zero, a device has.
int CountMatches(const cudaDeviceProp& has, const cudaDeviceProp& wanted) {
  constexpr cudaUUID_t kNoUuid{};
  int matches = 0;
#define CUHEAP_DEVICE_PROPERTY(field, attribute) \
  matches += wanted.field != 0 && wanted.field == has.field ? 1 : 0;
#include "tests/sim/runtime/device_properties.def"
#undef CUHEAP_DEVICE_PROPERTY
  matches += wanted.totalGlobalMem != 0 && wanted.totalGlobalMem == has.totalGlobalMem ? 1 : 0;
  matches += wanted.name[0] != 0 && std::strncmp(wanted.name, has.name, sizeof has.name) == 0;
  matches += std::memcmp(&wanted.uuid, &kNoUuid, sizeof kNoUuid) != 0 &&
             std::memcmp(&wanted.uuid, &has.uuid, sizeof kNoUuid) == 0;
  return matches;
}

}  // namespace

extern "C" cudaError_t cudaChooseDevice(int* device, const cudaDeviceProp* wanted) {
  if (device == nullptr || wanted == nullptr) return Record(cudaErrorInvalidValue);
  int count = 0;
  cudaError_t result = cudaGetDeviceCount(&count);
  int best = 0;
  int most = -1;
  for (int candidate = 0; candidate < count && result == cudaSuccess; ++candidate) {
    cudaDeviceProp has{};
    result = cudaGetDeviceProperties(&has, candidate);
    const int matches = CountMatches(has, *wanted);
    if (matches > most) best = candidate;
    most = std::max(most, matches);
  }
  if (result == cudaSuccess) *device = best;
  return result;
}

extern "C" cudaError_t cudaSetValidDevices(int* devices, int count) {
  return Record(SetValidDevices(devices, count));
}
