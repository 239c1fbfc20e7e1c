#include "tests/sim/engine/driver_function.h"

#include <algorithm>
#include <iterator>

namespace cuheap::sim {
namespace {

constexpr const char* kFunctionNames[] = {
#define FUNCTION(name) "cu" #name,
#include "function_names.inc"
#undef FUNCTION
};

constexpr std::string_view kEntryPoints[] = {
#define ENTRY(name, version, per_thread, symbol) #symbol,
#include "entry_table.inc"
#undef ENTRY
};

bool IsEntryPoint(std::string_view symbol) {
  return std::find(std::begin(kEntryPoints), std::end(kEntryPoints), symbol) !=
         std::end(kEntryPoints);
}

}  // namespace

const char* NameOf(DriverFunction function) { return kFunctionNames[static_cast<int>(function)]; }

bool FindFunction(std::string_view name, DriverFunction* out) {
  const auto* found = std::find(std::begin(kFunctionNames), std::end(kFunctionNames), name);
  if (found == std::end(kFunctionNames)) return false;
  *out = static_cast<DriverFunction>(found - std::begin(kFunctionNames));
  return true;
}

bool ParseEntryPoints(std::string_view text, EntryPointNames* out) {
  EntryPointNames names;
  while (!text.empty()) {
    const std::string_view name = text.substr(0, text.find(','));
    if (!IsEntryPoint(name)) return false;
    names.emplace(name);
    text.remove_prefix(std::min(text.size(), name.size() + 1));
  }
  *out = std::move(names);
  return true;
}

}  // namespace cuheap::sim
