// cuGetProcAddress: a name, a version and a stream mode name one ABI of one function. The newest
// ABI that is not newer than the version asked for is the answer; what CUHEAP_SIM_WITHOUT names is
// not there.
#include <algorithm>
#include <string_view>

#include "tests/sim/driver/entry_table.h"
#include "tests/sim/driver/support.h"
#include "tests/sim/engine/settings.h"

namespace cuheap::sim {
namespace {

struct Found {
  void* address = nullptr;
  bool name_known = false;
};

Found Find(std::string_view name, int version, bool per_thread) {
  const auto table = EntryPoints();
  const auto range =
      std::equal_range(table.begin(), table.end(), EntryPoint{name, 0, false, {}, nullptr},
                       [](const EntryPoint& a, const EntryPoint& b) { return a.name < b.name; });
  Found found;
  Found thread_found;
  for (auto entry = range.first; entry != range.second; ++entry) {
    if (TheSettings().without.contains(entry->symbol)) continue;
    found.name_known = true;
    if (entry->version > version) continue;
    (entry->per_thread ? thread_found : found).address = entry->address;
  }
  if (per_thread && thread_found.address != nullptr) found.address = thread_found.address;
  return found;
}

}  // namespace

CUresult face::GetProcAddress_v2(const char* symbol, void** out, int version, cuuint64_t flags,
                                 CUdriverProcAddressQueryResult* status) {
  CUHEAP_SIM_TRY(NeedPointers(symbol, out));
  if (version > TheSettings().driver_version || flags > 2) return CUDA_ERROR_INVALID_VALUE;
  const Found found = Find(symbol, version, flags == CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM);
  *out = found.address;
  WriteIfAsked(status, found.address != nullptr ? CU_GET_PROC_ADDRESS_SUCCESS
                       : found.name_known       ? CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT
                                                : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND);
  return CUDA_SUCCESS;
}

CUresult face::GetProcAddress(const char* symbol, void** out, int version, cuuint64_t flags) {
  return GetProcAddress_v2(symbol, out, version, flags, nullptr);
}

// Private tables are not part of the public interface, and there are none here.
CUresult face::GetExportTable(const void**, const CUuuid*) { return CUDA_ERROR_NOT_FOUND; }

}  // namespace cuheap::sim
