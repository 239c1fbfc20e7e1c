#include "allocator/capture/eh_frame.h"

#include "allocator/capture/cfa_program.h"
#include "allocator/capture/dwarf_reader.h"

namespace cuheap::capture {
namespace {

constexpr std::uint64_t kReturnAddressColumn = 16;

// The table that every linker writes: sorted pairs of signed 32-bit offsets from its head.
struct SearchTable {
  std::uint64_t head = 0;
  std::uint64_t first = 0;
  std::uint32_t count = 0;

  std::uint64_t Target(std::uint64_t address) const {
    return head + static_cast<std::uint64_t>(std::int64_t{Load<std::int32_t>(address)});
  }
  std::uint64_t Function(std::uint32_t index) const { return Target(first + 8ull * index); }
  std::uint64_t Description(std::uint32_t index) const { return Target(first + 8ull * index + 4); }
};

bool ReadTable(const Module& module, SearchTable* table) {
  constexpr std::uint8_t kVersion = 1;
  constexpr std::uint8_t kCountEncoding = 0x03;  // unsigned, 32 bits
  constexpr std::uint8_t kTableEncoding = 0x3b;  // signed, 32 bits, from the head
  if (module.unwind_table < module.map_begin || module.unwind_table >= module.map_end) return false;
  DwarfReader head(module.unwind_table, module.map_end);
  const auto version = head.Read<std::uint8_t>();
  const auto frame_encoding = head.Read<std::uint8_t>();
  const auto count_encoding = head.Read<std::uint8_t>();
  const auto table_encoding = head.Read<std::uint8_t>();
  if (version != kVersion || count_encoding != kCountEncoding || table_encoding != kTableEncoding)
    return false;
  head.ReadPointer(frame_encoding);
  table->head = module.unwind_table;
  table->count = head.Read<std::uint32_t>();
  table->first = head.at();
  return head.ok() && 8ull * table->count <= head.end() - head.at();
}

// The description of the last function that begins at or before `pc`; 0 when none does.
std::uint64_t Search(const SearchTable& table, std::uint64_t pc) {
  std::uint32_t low = 0;
  for (std::uint32_t high = table.count; low < high;) {
    const std::uint32_t middle = low + (high - low) / 2;
    if (table.Function(middle) <= pc)
      low = middle + 1;
    else
      high = middle;
  }
  return low == 0 ? 0 : table.Description(low - 1);
}

// An entry of .eh_frame: its length, then its content. False for the terminator.
bool OpenEntry(const Module& module, std::uint64_t address, DwarfReader* entry) {
  constexpr std::uint32_t kLong = 0xffffffff;
  if (address < module.map_begin || address >= module.map_end) return false;
  DwarfReader all(address, module.map_end);
  std::uint64_t length = all.Read<std::uint32_t>();
  if (length == kLong) length = all.Read<std::uint64_t>();
  *entry = all.Take(length);
  return all.ok() && length != 0;
}

// The letters of an augmentation string and the data that they announce.
bool ReadAugmentation(std::uint64_t letters, DwarfReader data, FrameDescription* function) {
  for (std::uint64_t at = letters; Load<char>(at) != 0; ++at) {
    switch (Load<char>(at)) {
      case 'z':
      case 'B':
        break;
      case 'R':
        function->pointer_encoding = data.Read<std::uint8_t>();
        break;
      case 'P':
        data.ReadPointer(data.Read<std::uint8_t>());
        break;
      case 'L':
        data.Read<std::uint8_t>();
        break;
      case 'S':
        function->signal_frame = true;
        break;
      default:
        return false;
    }
  }
  return data.ok();
}

bool ReadShared(const Module& module, std::uint64_t address, FrameDescription* function) {
  DwarfReader entry(0, 0);
  if (!OpenEntry(module, address, &entry) || entry.Read<std::uint32_t>() != 0) return false;
  const auto version = entry.Read<std::uint8_t>();
  const std::uint64_t letters = entry.at();
  while (entry.ok() && entry.Read<char>() != 0) {
  }
  function->code_alignment = entry.ReadUleb();
  function->data_alignment = entry.ReadSleb();
  const std::uint64_t column = version == 1 ? entry.Read<std::uint8_t>() : entry.ReadUleb();
  if (!entry.ok() || (version != 1 && version != 3) || column != kReturnAddressColumn) return false;
  function->augmented = Load<char>(letters) == 'z';
  if (function->augmented) {
    if (!ReadAugmentation(letters, entry.Take(entry.ReadUleb()), function)) return false;
  } else if (Load<char>(letters) != 0) {
    return false;
  }
  function->initial = entry;
  return entry.ok();
}

bool ReadDescription(const Module& module, std::uint64_t address, FrameDescription* function) {
  DwarfReader entry(0, 0);
  if (!OpenEntry(module, address, &entry)) return false;
  const std::uint64_t pointer = entry.at();
  const auto distance = entry.Read<std::uint32_t>();
  const std::uint64_t shared = pointer - distance;
  if (distance == 0 || !ReadShared(module, shared, function)) return false;
  function->begin = entry.ReadPointer(function->pointer_encoding);
  function->end = function->begin + entry.ReadPointer(function->pointer_encoding & 0x0f);
  if (function->augmented) entry.Take(entry.ReadUleb());
  function->own = entry;
  return entry.ok();
}

}  // namespace

UnwindRule FindUnwindRule(const Module& module, std::uint64_t pc) {
  constexpr UnwindRule kEnd{UnwindRule::Kind::kEnd, 0, {}, {}};
  SearchTable table;
  if (!ReadTable(module, &table)) return kEnd;
  const std::uint64_t address = Search(table, pc);
  FrameDescription function;
  if (address == 0 || !ReadDescription(module, address, &function)) return kEnd;
  if (pc < function.begin || pc >= function.end) return kEnd;
  return RunCfaProgram(function, pc);
}

}  // namespace cuheap::capture
