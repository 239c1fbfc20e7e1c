// The knobs of a process, read once from its environment and constant afterwards. config.def is the
// table; what is not in it and begins with CUHEAP_ is complained about, never ignored.
#pragma once

#include <cstdint>

#include "allocator/base/bytes.h"
#include "allocator/ledger/format.h"

namespace cuheap {

enum class Redact : std::uint32_t { kNothing = 0, kArgs = 1 };

struct Config {
  // Texts are copies: programs that rename themselves write over their environment.
#define CUHEAP_TEXT(field, NAME, value, longest, help) char field[(longest) + 1] = value;
#define CUHEAP_FLAG(field, NAME, value, help) bool field = value;
#define CUHEAP_SIZE(field, NAME, value, lowest, highest, help) Bytes field = value;
#define CUHEAP_CHOICE(field, NAME, type, value, help) type field = type::value;
#define CUHEAP_FOREIGN(prefix, whose)
#include "allocator/frontend/config.def"
#undef CUHEAP_TEXT
#undef CUHEAP_FLAG
#undef CUHEAP_SIZE
#undef CUHEAP_CHOICE
#undef CUHEAP_FOREIGN

  // Facts of the surroundings.
  std::int32_t rank = -1;  // -1 unknown
  std::int32_t world_size = -1;
  bool torch_caching_off = false;  // PYTORCH_NO_CUDA_MEMORY_CACHING: tensors are driver blocks

  char changed[256] = "";    // the knobs that are not at their default, as "out=a.cuheap limit=64M"
  char complaint[256] = "";  // the first thing that was not understood; empty = none
};

// `environment`: "NAME=value" strings ended by nullptr. A value that is not understood leaves its
// default in place.
void ReadConfig(const char* const* environment, Config* config);

}  // namespace cuheap
