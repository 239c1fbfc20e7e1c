// The interpreter's exported functions, found by name, so that nothing links Python and a process
// without Python pays nothing. The list is python_functions.def.
#pragma once

#include <sys/types.h>

#include <cstdint>

namespace cuheap::capture {

struct PythonApi {
#define PYTHON_FUNCTION(necessity, result, name, parameters) result(*name) parameters = nullptr;
#include "allocator/capture/python_functions.def"
#undef PYTHON_FUNCTION

  const void* code_type = nullptr;       // &PyCode_Type
  const void* runtime = nullptr;         // &_PyRuntime
  int (*is_finalizing)(void) = nullptr;  // whichever of the two names there is
  bool can_walk = false;
  bool can_check = false;
};

// Looks the names up in the global scope, else in a libpython3 that was loaded privately. Takes the
// loader lock. `api` is as new when there is no interpreter.
void FindPythonApi(PythonApi* api);

// sys.hexversion, from the text that Py_GetVersion returns ("3.13.0rc1 (main, ...").
std::uint32_t ParsePythonVersion(const char* text);

}  // namespace cuheap::capture
