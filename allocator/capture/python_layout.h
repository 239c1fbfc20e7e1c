// Which bytes of CPython's structures mean what, for one version. Data only; the table is
// python_layouts.def.
#pragma once

#include <cstdint>

namespace cuheap::capture {

struct PythonLayout {
  static constexpr std::uint16_t kAbsent = 0xffff;

  enum class Instruction : std::uint8_t {
    kByteIndex,  // 3.9: f_lasti counts bytes
    kUnitIndex,  // 3.10: f_lasti counts instructions of two bytes
    kPointer,    // 3.11+: into the code object
  };

#define PYTHON_FIELD(field, ...) std::uint16_t field = 0;
#include "allocator/capture/python_layouts.def"
#undef PYTHON_FIELD

  Instruction instruction = Instruction::kByteIndex;

  constexpr bool operator==(const PythonLayout&) const = default;

  static constexpr int kFirstMinor = 9;
  static constexpr int kLastMinor = 14;

  // The layout of 3.`minor` as the table has it. A field that only the interpreter itself can tell
  // is 0.
  // REQUIRES: kFirstMinor <= minor <= kLastMinor.
  static constexpr PythonLayout FromTable(int minor) {
    PythonLayout layout;
#define PYTHON_FIELD(field, ...) layout.field = Column(minor, __VA_ARGS__);
#include "allocator/capture/python_layouts.def"
#undef PYTHON_FIELD
    layout.instruction = minor == 9    ? Instruction::kByteIndex
                         : minor == 10 ? Instruction::kUnitIndex
                                       : Instruction::kPointer;
    return layout;
  }

 private:
  static constexpr std::uint16_t Column(int minor, std::uint16_t v39, std::uint16_t v310,
                                        std::uint16_t v311, std::uint16_t v312, std::uint16_t v313,
                                        std::uint16_t v314, int, int) {
    const std::uint16_t offsets[] = {v39, v310, v311, v312, v313, v314};
    return offsets[minor - kFirstMinor];
  }
};

// Fills `layout` for the interpreter whose sys.hexversion is `version_hex`; `runtime` is the
// address of its _PyRuntime, or nullptr when it has no such symbol (needed from 3.13 on). False:
// unknown version, free-threaded build, or a runtime whose own table does not make sense.
[[nodiscard]] bool ReadPythonLayout(std::uint32_t version_hex, const void* runtime,
                                    PythonLayout* layout);

}  // namespace cuheap::capture
