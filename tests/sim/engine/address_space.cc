#include "tests/sim/engine/address_space.h"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <map>
#include <vector>

#include "tests/sim/engine/spare_mappings.h"

namespace cuheap::sim {
namespace {

std::uintptr_t windows[kMaxDevices];
// Pages of the windows that are accessible: those in use, and free ones that nobody had written,
// which stay so because the two system calls cost more than all else that an allocation does.
std::vector<bool> open_pages[kMaxDevices];
std::uint64_t mappings_left = UINT64_MAX;  // that tests allow

std::map<std::uintptr_t, std::uint64_t>& Reservations() {
  static auto& map = *new std::map<std::uintptr_t, std::uint64_t>;
  return map;
}

int Protection(Access access) {
  switch (access) {
    case Access::kNone:
      return PROT_NONE;
    case Access::kRead:
      return PROT_READ;
    case Access::kReadWrite:
      return PROT_READ | PROT_WRITE;
  }
  return PROT_NONE;
}

bool TakeMapping() {
  if (mappings_left == UINT64_MAX) return MayMap();
  if (mappings_left == 0) return false;
  --mappings_left;
  return true;
}

// What the kernel said to a request for a mapping.
bool Was(bool granted) {
  if (!granted) LetSpareMappingsGo();
  return granted;
}

bool Protect(std::uintptr_t base, std::uint64_t bytes, Access access) {
  return Was(mprotect(reinterpret_cast<void*>(base), bytes, Protection(access)) == 0);
}

bool MapFixed(std::uintptr_t base, std::uint64_t bytes, Access access, int flags, int file,
              std::uint64_t offset) {
  return Was(mmap(reinterpret_cast<void*>(base), bytes, Protection(access),
                  flags | MAP_FIXED | MAP_NORESERVE, file,
                  static_cast<off_t>(offset)) != MAP_FAILED);
}

bool InWindow(int device, std::uintptr_t address) {
  return device != kHostDevice && address - windows[device] < DeviceCapacity(device);
}

bool IsWindowRegion(const MappedRegion& region) {
  return InWindow(region.pages->device(), region.base);
}

// Cuts what is aligned out of `padded` bytes at `start`, and keeps it as a reservation.
std::uintptr_t KeepAligned(std::uintptr_t start, std::uint64_t padded, std::uint64_t bytes,
                           std::uint64_t alignment) {
  const std::uintptr_t base = (start + alignment - 1) / alignment * alignment;
  if (base > start) munmap(reinterpret_cast<void*>(start), base - start);
  if (base + bytes < start + padded) {
    munmap(reinterpret_cast<void*>(base + bytes), start + padded - base - bytes);
  }
  Reservations()[base] = bytes;
  return base;
}

std::uintptr_t Reserve(std::uint64_t bytes, std::uint64_t alignment, std::uintptr_t hint,
                       int flags) {
  const std::uint64_t padded = bytes + alignment;
  if (padded < bytes) return 0;
  void* memory = mmap(reinterpret_cast<void*>(hint), padded, PROT_NONE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | flags, -1, 0);
  if (memory == MAP_FAILED) return 0;
  return KeepAligned(reinterpret_cast<std::uintptr_t>(memory), padded, bytes, alignment);
}

std::optional<MappedRegion> MapAt(std::uintptr_t base, PhysicalPtr pages) {
  const std::uint64_t bytes = pages->bytes();
  MappedRegion region{base, bytes, std::move(pages)};
  if (region.base == 0) return std::nullopt;
  if (MapPages(region, 0, Access::kReadWrite)) return region;
  ReturnAddresses(region.base, bytes);
  return std::nullopt;
}

}  // namespace

bool OpenAddressSpace() {
  for (int device = 0; device < TheSettings().devices; ++device) {
    const std::uint64_t bytes = DeviceCapacity(device);
    if (bytes == 0) continue;
    windows[device] = ReserveAddresses(bytes, kPageBytes, 0);
    if (windows[device] == 0 ||
        mmap(reinterpret_cast<void*>(windows[device]), bytes, PROT_NONE,
             MAP_SHARED | MAP_FIXED | MAP_NORESERVE, DeviceFile(device), 0) == MAP_FAILED) {
      std::fprintf(stderr, "cuheap-sim: window of device %d: %s\n", device, std::strerror(errno));
      return false;
    }
    open_pages[device].resize(bytes / kPageBytes);
  }
  return true;
}

std::uintptr_t ReserveAddresses(std::uint64_t bytes, std::uint64_t alignment, std::uintptr_t hint) {
  return Reserve(bytes, alignment, hint, 0);
}

void ReturnAddresses(std::uintptr_t base, std::uint64_t bytes) {
  Reservations().erase(base);
  munmap(reinterpret_cast<void*>(base), bytes);
}

bool MapPages(const MappedRegion& region, std::uint64_t offset, Access access) {
  std::uintptr_t at = region.base;
  std::uint64_t left = region.bytes;
  for (const PageRun& run : region.pages->runs()) {
    const std::uint64_t run_bytes = run.count * kPageBytes;
    if (offset >= run_bytes) {
      offset -= run_bytes;
      continue;
    }
    const std::uint64_t bytes = std::min(left, run_bytes - offset);
    if (bytes == 0) break;
    if (!TakeMapping() || !MapFixed(at, bytes, access, MAP_SHARED, region.pages->file(),
                                    run.first * kPageBytes + offset)) {
      UnmapPages(region.base, at - region.base);
      return false;
    }
    at += bytes;
    left -= bytes;
    offset = 0;
  }
  return true;
}

bool UnmapPages(std::uintptr_t base, std::uint64_t bytes) {
  const auto unmap = [&] {
    return MapFixed(base, bytes, Access::kNone, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  };
  return bytes == 0 || unmap() || unmap();  // with the mappings that the first try let go
}

void LimitMappings(std::uint64_t more) { mappings_left = more; }

bool SetAccess(std::uintptr_t base, std::uint64_t bytes, Access access) {
  if (access != Access::kNone) return TakeMapping() && Protect(base, bytes, access);
  return Protect(base, bytes, access) || Protect(base, bytes, access);  // as above
}

void RestoreAccess(std::uintptr_t base, std::uint64_t bytes, Access access) {
  static_cast<void>(Protect(base, bytes, access));
}

namespace {

bool OpenPages(int device, PageRun run) {
  std::vector<bool>& open = open_pages[device];
  const auto first = open.begin() + run.first;
  if (std::find(first, first + run.count, false) == first + run.count) return true;
  const std::uintptr_t base = windows[device] + run.first * kPageBytes;
  if (!SetAccess(base, run.count * kPageBytes, Access::kReadWrite)) return false;
  std::fill(first, first + run.count, true);
  return true;
}

bool ClosePages(int device, PageRun run) {
  const std::uintptr_t base = windows[device] + run.first * kPageBytes;
  if (!SetAccess(base, run.count * kPageBytes, Access::kNone)) return false;
  const auto first = open_pages[device].begin() + run.first;
  std::fill(first, first + run.count, false);
  return true;
}

}  // namespace

std::optional<MappedRegion> MapNewRegion(int device, std::uint64_t bytes, MemoryKind kind) {
  PhysicalPtr pages = AllocatePages(device, bytes, kind);
  if (pages == nullptr) return std::nullopt;
  if (device == kHostDevice || pages->runs().size() != 1) return MapExisting(std::move(pages));
  const PageRun run = pages->runs()[0];
  if (!OpenPages(device, run)) return std::nullopt;
  const std::uintptr_t base = windows[device] + run.first * kPageBytes;
  return MappedRegion{base, bytes, std::move(pages)};
}

std::optional<MappedRegion> MapExisting(PhysicalPtr pages) {
  const std::uintptr_t base = ReserveAddresses(pages->bytes(), kPageBytes, 0);
  return MapAt(base, std::move(pages));
}

std::optional<MappedRegion> MapBelow4GiB(PhysicalPtr pages) {
  const std::uintptr_t base = Reserve(pages->bytes(), kPageBytes, 0, MAP_32BIT);
  return MapAt(base, std::move(pages));
}

void UnmapRegion(const MappedRegion& region) {
  if (!IsWindowRegion(region)) {
    ReturnAddresses(region.base, region.bytes);
  } else if (region.pages->written() &&
             !ClosePages(region.pages->device(), region.pages->runs()[0])) {
    // The kernel has no mapping left to split; the memory stays accessible until its reuse.
    std::fprintf(stderr, "cuheap-sim: vm.max_map_count reached, freed memory stays accessible\n");
  }
}

bool IsDeviceAddress(std::uintptr_t address) {
  const auto& reservations = Reservations();
  auto after = reservations.upper_bound(address);
  if (after == reservations.begin()) return false;
  --after;
  return address - after->first < after->second;
}

void PunchZeroes(const MappedRegion& region, std::uintptr_t base, std::uint64_t bytes) {
  constexpr std::uint64_t kHostPage = 4096;
  const std::uintptr_t low = (base + kHostPage - 1) / kHostPage * kHostPage;
  const std::uintptr_t high = (base + bytes) / kHostPage * kHostPage;
  std::memset(reinterpret_cast<void*>(base), 0, low - base);
  std::memset(reinterpret_cast<void*>(high), 0, base + bytes - high);
  std::uint64_t skip = low - region.base;
  std::uint64_t left = high - low;
  for (const PageRun& run : region.pages->runs()) {
    const std::uint64_t run_bytes = run.count * kPageBytes;
    if (skip >= run_bytes) {
      skip -= run_bytes;
      continue;
    }
    const std::uint64_t count = std::min(left, run_bytes - skip);
    if (count == 0) break;
    PunchHole(region.pages->file(), run.first * kPageBytes + skip, count);
    left -= count;
    skip = 0;
  }
}

}  // namespace cuheap::sim
