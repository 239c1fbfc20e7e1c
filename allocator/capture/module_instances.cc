#include "allocator/capture/module_instances.h"

#include <atomic>

#include "allocator/capture/memory_probe.h"

namespace cuheap::capture {
namespace {

constexpr std::size_t kSlots = 8192;
constexpr std::size_t kMostProbes = 32;

enum class Phase : std::uint32_t { kEmpty, kFilling, kReady };

// Enough of a build-id to tell any two apart (they are hashes), or of a table's head.
struct Words {
  std::uint64_t first = 0;
  std::uint64_t last = 0;
  bool operator==(const Words&) const = default;
};

// Of memory of 8 bytes or more.
Words WordsOf(std::uint64_t address, std::uint64_t size) {
  return {Load<std::uint64_t>(address), Load<std::uint64_t>(address + size - 8)};
}

// Filled once, constant after kReady.
struct Slot {
  std::atomic<Phase> phase{Phase::kEmpty};
  std::uint32_t id_size = 0;
  std::uint64_t id_address = 0;
  Words id;
  Words table;
  Module module;
};

constinit Slot slots[kSlots];
static_assert(kSlots < 1 << 17);

// Where the tables are and how many entries they have: only a module with the same sections in the
// same places has the same, so the build-id can be read where the other one had it.
Words TableHead(const Module& module) { return WordsOf(module.unwind_table, 16); }

bool SamePlace(const Module& a, const Module& b) {
  return a.map_begin == b.map_begin && a.map_end == b.map_end && a.unwind_table == b.unwind_table &&
         a.load_bias == b.load_bias;
}

bool IsSame(const Slot& slot, const Module& module) {
  return SamePlace(slot.module, module) && slot.table == TableHead(module) &&
         slot.id == WordsOf(slot.id_address, slot.id_size);
}

// The second half of the sorted table behind an .eh_frame_hdr; empty if it is written in an unusual
// way.
std::span<const std::uint8_t> HalfOfTable(const Module& module) {
  constexpr std::uint32_t kUsual =
      0x3b031b01;  // version 1, relative pointer, 32-bit count, 32-bit table
  constexpr std::uint64_t kHead = 12;
  constexpr std::uint64_t kEntry = 8;
  if (Load<std::uint32_t>(module.unwind_table) != kUsual) return {};
  const std::uint64_t count = Load<std::uint32_t>(module.unwind_table + 8);
  const std::uint64_t middle = count / 2;
  return {reinterpret_cast<const std::uint8_t*>(module.unwind_table + kHead + middle * kEntry),
          (count - middle) * kEntry};
}

std::span<const std::uint8_t> IdentityOf(const Module& module) {
  const auto id = ModuleBuildId(module);
  return id.size() >= sizeof(std::uint64_t) ? id : HalfOfTable(module);
}

void Fill(Slot* slot, const Module& module, std::span<const std::uint8_t> id) {
  slot->id_address = reinterpret_cast<std::uint64_t>(id.data());
  slot->id_size = static_cast<std::uint32_t>(id.size());
  slot->id = WordsOf(slot->id_address, slot->id_size);
  slot->table = TableHead(module);
  slot->module = module;
}

}  // namespace

ModuleInstance NumberModule(const Module& module) {
  if (module.unwind_table == 0) return ModuleInstance::kNone;
  constexpr std::uint64_t kOdd = 0x9e3779b97f4a7c15u;
  std::size_t index = (module.map_begin / kPage * kOdd >> 51) % kSlots;
  for (std::size_t probe = 0; probe < kMostProbes; ++probe, index = (index + 1) % kSlots) {
    Slot& slot = slots[index];
    Phase phase = slot.phase.load(std::memory_order_acquire);
    if (phase == Phase::kReady && IsSame(slot, module))
      return ModuleInstance{static_cast<std::uint32_t>(index + 1)};
    if (phase != Phase::kEmpty) continue;
    // Looked at before the slot is claimed, so that modules without an identity use none up.
    const auto id = IdentityOf(module);
    if (id.size() < sizeof(std::uint64_t)) return ModuleInstance::kNone;
    if (!slot.phase.compare_exchange_strong(phase, Phase::kFilling, std::memory_order_acquire))
      continue;
    Fill(&slot, module, id);
    slot.phase.store(Phase::kReady, std::memory_order_release);
    return ModuleInstance{static_cast<std::uint32_t>(index + 1)};
  }
  return ModuleInstance::kNone;
}

}  // namespace cuheap::capture
