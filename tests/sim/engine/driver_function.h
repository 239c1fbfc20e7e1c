// The driver's functions as the engine names them: one for each base name, so that cuMemAlloc
// stands for all of its ABIs and for the variants of per-thread default streams. An entry point is
// one exported symbol. Both lists are generated from cuda.h.
//
// Threads: any; constant.
#pragma once

#include <set>
#include <string>
#include <string_view>

namespace cuheap::sim {

enum class DriverFunction : int {
#define FUNCTION(name) name,
#include "function_names.inc"
#undef FUNCTION
  kCount
};

// "cuMemAlloc".
const char* NameOf(DriverFunction function);
// False: no function has this base name.
bool FindFunction(std::string_view name, DriverFunction* out);

using EntryPointNames = std::set<std::string, std::less<>>;

// Names of entry points with commas between them. False, and `out` untouched: one does not exist.
bool ParseEntryPoints(std::string_view text, EntryPointNames* out);

}  // namespace cuheap::sim
