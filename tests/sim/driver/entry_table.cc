#include "tests/sim/driver/entry_table.h"

#include <cuda.h>

namespace cuheap::sim {

std::span<const EntryPoint> EntryPoints() {
  static const EntryPoint table[] = {
#define ENTRY(name, version, per_thread, symbol) \
  {name, version, per_thread != 0, #symbol, reinterpret_cast<void*>(&::symbol)},
#include "entry_table.inc"
#undef ENTRY
  };
  return table;
}

}  // namespace cuheap::sim
