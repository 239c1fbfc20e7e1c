// The text of a Python str object, read raw.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "allocator/capture/python_layout.h"

namespace cuheap::capture {

// UTF-8. ASCII text is returned in place; other text is decoded into the front of `scratch`, which
// is then made shorter by what was used. Text that does not fit is cut between characters. A lone
// surrogate becomes U+FFFD; anything that is not a compact str gives "?".
std::string_view ReadPythonText(const PythonLayout& layout, std::uintptr_t object,
                                std::span<char>* scratch);

}  // namespace cuheap::capture
