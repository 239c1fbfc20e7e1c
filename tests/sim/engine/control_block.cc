#include "tests/sim/engine/control_block.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <ctime>

#include "tests/sim/engine/byte_lock.h"
#include "tests/sim/engine/descriptor.h"

namespace cuheap::sim {
namespace {

constexpr std::uint64_t kMagic = 0x6375686561703035;

ControlBlock* block = nullptr;
int control_fd = -1;
int my_slot = 0;
int lock_depth = 0;  // guarded by the engine's lock

bool IsDead(int slot) {
  if (slot == my_slot || control_fd < 0) return false;
  struct flock range = ByteLock(slot, F_WRLCK);
  return fcntl(control_fd, F_GETLK, &range) == 0 && range.l_type == F_UNLCK;
}

void Initialise() {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  block->identity = static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000U +
                    static_cast<std::uint64_t>(now.tv_nsec) +
                    (static_cast<std::uint64_t>(getpid()) << 40);
  block->next_serial = 1;
  for (PageTable& table : block->tables) {
    table.pages = static_cast<std::uint32_t>(TheSettings().memory / kPageBytes);
    table.free_pages = table.pages;
  }
  // A host has no end of memory here.
  block->tables[kHostTable].pages = block->tables[kHostTable].free_pages = kMaxPages;
  block->magic = kMagic;
}

bool TakeSlot() {
  for (int slot = 0; slot < kMaxProcesses; ++slot) {
    struct flock range = ByteLock(slot, F_WRLCK);
    if (block->processes[slot].pid != 0 || fcntl(control_fd, F_SETLK, &range) != 0) continue;
    block->processes[slot].pid = getpid();
    my_slot = slot;
    return true;
  }
  std::fprintf(stderr, "cuheap-sim: more than %d processes share one device\n", kMaxProcesses);
  return false;
}

bool OpenSharedFile() {
  const std::string path = TheSettings().shared + ".control";
  control_fd = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (control_fd < 0) {
    std::fprintf(stderr, "cuheap-sim: CUHEAP_SIM_SHARED: %s: %s\n", path.c_str(),
                 std::strerror(errno));
    return false;
  }
  while (flock(control_fd, LOCK_EX) != 0 && errno == EINTR) {
  }
  struct stat status {};
  const bool sized = fstat(control_fd, &status) == 0 &&
                     (status.st_size >= static_cast<off_t>(sizeof(ControlBlock)) ||
                      ftruncate(control_fd, sizeof(ControlBlock)) == 0);
  void* memory =
      sized ? mmap(nullptr, sizeof(ControlBlock), PROT_READ | PROT_WRITE, MAP_SHARED, control_fd, 0)
            : MAP_FAILED;
  if (memory != MAP_FAILED) {
    block = static_cast<ControlBlock*>(memory);
    if (block->magic != kMagic) Initialise();
    my_slot = -1;
    Sweep(nullptr);
  }
  const bool joined = memory != MAP_FAILED && TakeSlot();
  flock(control_fd, LOCK_UN);
  return joined;
}

void FreePagesOf(int index, std::uint16_t owner, void (*punch)(int, PageRun)) {
  PageTable& table = block->tables[index];
  for (std::uint32_t page = 0; page < table.pages; ++page) {
    if (table.owner[page] != owner) continue;
    table.owner[page] = 0;
    ++table.free_pages;
    if (punch != nullptr) punch(index, PageRun{page, 1});
  }
}

void SweepExport(int index, std::uint64_t dead, void (*punch)(int, PageRun)) {
  ExportEntry& entry = block->exports[index];
  if (entry.serial == 0) return;
  const bool had_holder = entry.holders != 0;
  entry.holders &= ~dead;
  if (entry.holders != 0) return;
  const bool kept = IsHeldByDescriptor(DescriptorKind::kMemory, index);
  if (had_holder && kept) ++block->left_to_descriptors;
  if (!had_holder && !kept) --block->left_to_descriptors;
  if (kept) return;
  FreePagesOf(entry.table, static_cast<std::uint16_t>(kExportFlag | index), punch);
  entry.serial = 0;
}

}  // namespace

bool OpenControlBlock() {
  if (block != nullptr) return true;
  if (!OpenDescriptorFile()) return false;
  if (!TheSettings().shared.empty()) return OpenSharedFile();
  void* memory = mmap(nullptr, sizeof(ControlBlock), PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) {
    std::fprintf(stderr, "cuheap-sim: no memory for the page tables: %s\n", std::strerror(errno));
    return false;
  }
  block = static_cast<ControlBlock*>(memory);
  Initialise();
  block->processes[0].pid = getpid();
  return true;
}

ControlBlock& TheControlBlock() { return *block; }
int MySlot() { return my_slot; }
bool IsProcessGone(int slot, int pid) {
  return slot < 0 || slot >= kMaxProcesses || block->processes[slot].pid != pid || IsDead(slot);
}
bool IsShared() { return control_fd >= 0; }

ControlLock::ControlLock() {
  if (control_fd < 0 || lock_depth++ > 0) return;
  while (flock(control_fd, LOCK_EX) != 0 && errno == EINTR) {
  }
}

ControlLock::~ControlLock() {
  if (control_fd < 0 || --lock_depth > 0) return;
  flock(control_fd, LOCK_UN);
}

void Sweep(void (*punch)(int device, PageRun run)) {
  std::uint64_t dead = 0;
  for (int slot = 0; slot < kMaxProcesses; ++slot) {
    if (block->processes[slot].pid == 0 || !IsDead(slot)) continue;
    dead |= 1ULL << slot;
    block->processes[slot].pid = 0;
    for (int table = 0; table < kTables; ++table) {
      FreePagesOf(table, static_cast<std::uint16_t>(slot + 1), punch);
    }
  }
  if (dead == 0 && block->left_to_descriptors == 0) return;
  for (int index = 0; index < kMaxExports; ++index) SweepExport(index, dead, punch);
  for (SharedEventEntry& event : block->events) std::atomic_ref(event.holders).fetch_and(~dead);
  for (MulticastEntry& object : block->multicasts) object.holders &= ~dead;
}

}  // namespace cuheap::sim
