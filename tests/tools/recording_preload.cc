// Stands in for libcuheap_preload.so in tests of `cuheap run`: opens the ledger as its environment
// says, as soon as the process starts, if TEST_RECORD is set. What it records does not matter; that
// the file survives its process does.
#include <stdlib.h>
#include <string.h>

#include <string>

#include "allocator/base/clock.h"
#include "allocator/ledger/ledger.h"

namespace {

cuheap::Ledger ledger;

std::string Destination() {
  std::string out = getenv("CUHEAP_OUT");
  const std::size_t place = out.find("%p");
  if (place != std::string::npos) out.replace(place, 2, std::to_string(getpid()));
  return out;
}

[[gnu::constructor]] void Start() {
  if (getenv("TEST_RECORD") == nullptr || getenv("CUHEAP_OUT") == nullptr) return;
  const std::string destination = Destination();
  const char* folder = getenv("CUHEAP_SHM");
  cuheap::LedgerOptions options;
  options.destination = destination.c_str();
  options.shared_folder = folder != nullptr && *folder != '\0' ? folder : nullptr;
  options.run_id = getenv("CUHEAP_RUN_ID");
  options.limit = cuheap::Bytes(8u << 20);
  if (!ledger.Open(options, cuheap::SystemClock())) return;
  cuheap::Birth birth;
  birth.address = cuheap::Address{4096};
  birth.block_bytes = birth.requested_bytes = cuheap::Bytes(1u << 20);
  ledger.Born(birth);
  if (strcmp(getenv("TEST_RECORD"), "oom") == 0)
    ledger.OutOfMemory(cuheap::DeviceId{0}, cuheap::Bytes(1u << 30));
}

[[gnu::destructor]] void End() { ledger.Close(); }

}  // namespace
