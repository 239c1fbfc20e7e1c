// One program with many cases: `hook_victim CASE`. What a case learns of the device it prints, so
// that a watched run can be compared with one that is not.
#pragma once

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <cstdio>

struct Case {
  const char* name;
  void (*run)();
};

extern const Case kLifeCases[];      // ended by an empty one
extern const Case kPhysicalCases[];  // the same

inline void Say(const char* what, int code) { std::printf("%s %d\n", what, code); }
