#include "allocator/base/environment.h"

#include <unistd.h>

#include <cstdlib>

namespace cuheap {

const char* EnvironmentValue(const char* name) { return std::getenv(name); }

const char* const* Environment() { return environ; }

}  // namespace cuheap
