#include "tests/contract/runtime_functions.h"

#include <dlfcn.h>

namespace cuheap::contract {
namespace {

void* Library() {
  static void* const library = dlopen("libcudart.so.13", RTLD_NOW);
  return library;
}

RuntimeFunctions Find() {
  RuntimeFunctions found;
#define F(name) found.name = reinterpret_cast<decltype(found.name)>(dlsym(Library(), #name));
#include "tests/contract/runtime_functions.def"
#undef F
  return found;
}

}  // namespace

const RuntimeFunctions& Runtime() {
  static const RuntimeFunctions functions = Find();
  return functions;
}

bool RuntimeIsThere() { return Library() != nullptr; }

}  // namespace cuheap::contract
