#include "allocator/capture/python_api.h"

#include <dlfcn.h>
#include <link.h>

#include <cstring>

namespace cuheap::capture {
namespace {

constexpr const char* kProbe = "PyGILState_GetThisThreadState";

int NoteLibpython(dl_phdr_info* info, size_t, void* found) {
  if (std::strstr(info->dlpi_name, "/libpython3.") == nullptr) return 0;
  *static_cast<const char**>(found) = info->dlpi_name;
  return 1;
}

// A program that embeds Python may have loaded libpython RTLD_LOCAL; nobody unloads one that has
// run, so the handle's reference is given back at once.
void* FindInterpreter() {
  if (dlsym(RTLD_DEFAULT, kProbe) != nullptr) return RTLD_DEFAULT;
  const char* name = nullptr;
  dl_iterate_phdr(NoteLibpython, &name);
  if (name == nullptr) return nullptr;
  void* handle = dlopen(name, RTLD_LAZY | RTLD_NOLOAD);
  if (handle != nullptr) dlclose(handle);
  return handle;
}

template <typename Function>
void Find(void* handle, const char* name, Function* function) {
  *function = reinterpret_cast<Function>(dlsym(handle, name));
}

const char* ParseNumber(const char* text, unsigned* number) {
  *number = 0;
  for (; *text >= '0' && *text <= '9'; ++text)
    *number = *number * 10 + static_cast<unsigned>(*text - '0');
  return text;
}

// The last byte of sys.hexversion: release level and serial.
unsigned ParseLevel(const char* text) {
  constexpr unsigned kFinal = 0xf0;
  const unsigned level = *text == 'a' ? 0xa0 : *text == 'b' ? 0xb0 : *text == 'r' ? 0xc0 : kFinal;
  if (level == kFinal) return kFinal;
  unsigned serial = 0;
  ParseNumber(text + (level == 0xc0 ? 2 : 1), &serial);
  return level | (serial & 0xf);
}

}  // namespace

std::uint32_t ParsePythonVersion(const char* text) {
  unsigned part[3] = {};
  for (int i = 0; i < 3; ++i) {
    text = ParseNumber(text, &part[i]);
    if (i < 2 && *text++ != '.') return 0;
  }
  return part[0] << 24 | part[1] << 16 | part[2] << 8 | ParseLevel(text);
}

void FindPythonApi(PythonApi* api) {
  enum : int { kWalk, kCheck, kMaybe, kNecessities };
  void* const handle = FindInterpreter();
  // RTLD_DEFAULT is the null handle, so its absence is told by the first symbol.
  if (handle == nullptr && dlsym(RTLD_DEFAULT, kProbe) == nullptr) return;
  int missing[kNecessities] = {};
#define PYTHON_FUNCTION(necessity, result, name, parameters) \
  Find(handle, #name, &api->name);                           \
  if (api->name == nullptr) ++missing[necessity];
#include "allocator/capture/python_functions.def"
#undef PYTHON_FUNCTION
  api->code_type = dlsym(handle, "PyCode_Type");
  api->runtime = dlsym(handle, "_PyRuntime");
  api->is_finalizing =
      api->Py_IsFinalizing != nullptr ? api->Py_IsFinalizing : api->_Py_IsFinalizing;
  api->can_walk = missing[kWalk] == 0 && api->code_type != nullptr && api->is_finalizing != nullptr;
  api->can_check = api->can_walk && missing[kCheck] == 0;
}

}  // namespace cuheap::capture
