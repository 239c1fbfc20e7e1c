#include "tests/contract/code.h"

#include <ostream>

#include "tests/contract/driver_functions.h"

namespace cuheap::contract {

std::string NameOf(Code code) {
  const char* name = nullptr;
  Driver(Road::kSymbols).cuGetErrorName(static_cast<CUresult>(code.value), &name);
  return std::string(name == nullptr ? "unknown code" : name) + " (" + std::to_string(code.value) +
         ")";
}

void PrintTo(const Code& code, std::ostream* stream) { *stream << NameOf(code); }

}  // namespace cuheap::contract
