// Runs the call frame program of one function up to one address and says what rule holds there.
#pragma once

#include <cstdint>

#include "allocator/capture/dwarf_reader.h"
#include "allocator/capture/unwind_rule.h"

namespace cuheap::capture {

// What .eh_frame says of one function.
struct FrameDescription {
  std::uint64_t begin = 0;  // of the function
  std::uint64_t end = 0;
  std::uint64_t code_alignment = 1;
  std::int64_t data_alignment = 1;
  std::uint8_t pointer_encoding = 0;
  bool signal_frame = false;
  bool augmented = false;     // the function carries data of its own before its instructions
  DwarfReader initial{0, 0};  // the instructions shared by functions, then the function's own
  DwarfReader own{0, 0};
};

// The rule at `pc`. Kind kEnd when there is none that x86-64 compilers make.
UnwindRule RunCfaProgram(const FrameDescription& function, std::uint64_t pc);

}  // namespace cuheap::capture
