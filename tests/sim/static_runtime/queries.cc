#include "tests/sim/static_runtime/queries.h"

#include <cuda.h>

#include <algorithm>
#include <iterator>
#include <string_view>

namespace cuheap::sim {
namespace {

struct Abi {
  const char* name;
  int version;
  int per_thread;
};

constexpr Abi kAbis[] = {
#define ENTRY(name, version, per_thread, symbol) {name, version, per_thread},
#include "entry_table.inc"
#undef ENTRY
};

constexpr std::string_view kWantedTwice[] = {"cuGetProcAddress", "cuGraphAddNode",
                                             "cuIpcOpenMemHandle", "cuMemPrefetchAsync"};
constexpr std::string_view kNeverWanted[] = {
    "cuMemAddressFree", "cuMemAddressReserve", "cuMemAllocHost", "cuMemCreate",
    "cuMemMap",         "cuMemSetAccess",      "cuMemUnmap"};

template <class List>
bool Contains(const List& list, std::string_view name) {
  return std::find(std::begin(list), std::end(list), name) != std::end(list);
}

bool IsNeverWanted(std::string_view name) {
  return Contains(kNeverWanted, name) || name.starts_with("cuMulticast");
}

bool IsNewest(const Abi& abi) {
  return std::none_of(std::begin(kAbis), std::end(kAbis), [&](const Abi& other) {
    return other.per_thread == abi.per_thread && other.version > abi.version &&
           std::string_view(other.name) == abi.name;
  });
}

}  // namespace

std::vector<Query> QueriesOfRuntime() {
  std::vector<Query> queries;
  for (const Abi& abi : kAbis) {
    if (IsNeverWanted(abi.name)) continue;
    if (!IsNewest(abi) && (abi.per_thread != 0 || !Contains(kWantedTwice, abi.name))) continue;
    queries.push_back({abi.name, abi.version,
                       abi.per_thread != 0 ? CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM
                                           : CU_GET_PROC_ADDRESS_DEFAULT});
  }
  queries.push_back({"", 0, CU_GET_PROC_ADDRESS_DEFAULT});
  return queries;
}

}  // namespace cuheap::sim
