#include "tests/sim/engine/external_memory.h"

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/sim/engine/allocation_table.h"
#include "tests/sim/engine/engine_lock.h"
#include "tests/sim/engine/handle_pool.h"

namespace cuheap::sim {
namespace {

constexpr std::uint64_t kHostPage = 4096;

HandlePool<ExternalMemory>& Memories() {
  static auto& pool = *new HandlePool<ExternalMemory>;
  return pool;
}

// Descriptors that are no files of the system know their size by their end.
std::uint64_t SizeOf(int file) {
  struct stat status {};
  if (fstat(file, &status) != 0) return 0;
  if (status.st_size > 0) return static_cast<std::uint64_t>(status.st_size);
  const off_t place = lseek(file, 0, SEEK_CUR);
  const off_t end = lseek(file, 0, SEEK_END);
  lseek(file, place, SEEK_SET);
  return end > 0 ? static_cast<std::uint64_t>(end) : 0;
}

bool CanBeMapped(int file) {
  void* probe = mmap(nullptr, kHostPage, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  return probe != MAP_FAILED && munmap(probe, kHostPage) == 0;
}

// Adds the range to the table, at addresses of the devices.
CUresult MapRange(Context* context, const ExternalMemory& memory, std::uint64_t offset,
                  std::uint64_t bytes, AllocationType type, std::uintptr_t* out) {
  if (bytes == 0 || offset >= memory.bytes || bytes > memory.bytes - offset) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  const std::uint64_t skipped = offset % kHostPage;
  const std::uint64_t whole = RoundedUp(skipped + bytes, kHostPage);
  const std::uintptr_t base = ReserveAddresses(whole, kPageBytes, 0);
  if (base == 0) return CUDA_ERROR_OUT_OF_MEMORY;
  if (mmap(reinterpret_cast<void*>(base), whole, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
           memory.file, static_cast<off_t>(offset - skipped)) == MAP_FAILED) {
    ReturnAddresses(base, whole);
    return CUDA_ERROR_OUT_OF_MEMORY;
  }
  Allocation block;
  block.base = base + skipped;
  block.bytes = bytes;
  block.type = type;
  block.device = context->device;
  block.context = context;
  block.region = MappedRegion{base, whole, nullptr};
  *out = AddAllocation(std::move(block)).base;
  return CUDA_SUCCESS;
}

}  // namespace

CUresult ImportFile(int file, std::uint64_t bytes, ExternalMemory** out) {
  if (bytes == 0 || bytes > SizeOf(file) || !CanBeMapped(file)) return CUDA_ERROR_INVALID_VALUE;
  const EngineLock lock;
  *out = Memories().New();
  **out = ExternalMemory{file, bytes};
  return CUDA_SUCCESS;
}

ExternalMemory* FindExternalMemory(CUexternalMemory handle) { return Memories().Find(handle); }

void DestroyExternalMemory(ExternalMemory* memory) {
  const EngineLock lock;
  close(memory->file);
  Memories().Delete(memory);
}

CUresult MapBuffer(Context* context, const ExternalMemory& memory, std::uint64_t offset,
                   std::uint64_t bytes, std::uintptr_t* out) {
  const EngineLock lock;
  return MapRange(context, memory, offset, bytes, AllocationType::kExternal, out);
}

CUresult MapStorage(Context* context, const ExternalMemory& memory, std::uint64_t offset,
                    ArrayStoragePtr* out) {
  const EngineLock lock;
  if (offset >= memory.bytes) return CUDA_ERROR_INVALID_VALUE;
  auto storage = std::make_shared<ArrayStorage>();
  storage->context = context;
  storage->bytes = memory.bytes - offset;
  const CUresult result = MapRange(context, memory, offset, storage->bytes,
                                   AllocationType::kExternalArray, &storage->base);
  if (result == CUDA_SUCCESS) *out = std::move(storage);
  return result;
}

}  // namespace cuheap::sim
