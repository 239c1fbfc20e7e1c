// From a place in Python bytecode to a source line, by the line table that the interpreter itself
// keeps in the code object. The encoding changed twice: co_lnotab up to 3.9, co_linetable of 3.10,
// the location table from 3.11 on.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

namespace cuheap::trace {

// `version_hex` is PY_VERSION_HEX, `instruction` a byte offset into the bytecode. Nothing where the
// table has no line for it. Any bytes are safe.
std::optional<std::int32_t> LineOf(std::uint32_t version_hex, std::span<const std::uint8_t> table,
                                   std::int32_t first_line, std::uint32_t instruction);

}  // namespace cuheap::trace
