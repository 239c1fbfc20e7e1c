/* core.h: the table of the one core in a process. Doors (hooks/) and libraries use it; programs use
 * cuheap.h.
 *
 * Laws
 *   1. One core a process: whoever needs it takes the table from dlsym(RTLD_DEFAULT,
 * "cuheap_core_v1").
 *   2. Fields are only ever added at the end; table_bytes says how many there are.
 *   3. Every function may be called from any thread, under locks of the caller's (the torch
 * allocator's lock, without the GIL), unless a line says otherwise; none calls the driver, takes
 * the GIL or the loader lock, or blocks.
 *   4. A function that cannot do its work counts that in the trace and returns; the caller goes on.
 */
#ifndef CUHEAP_CORE_H_
#define CUHEAP_CORE_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Heap ids: the ids of allocator/ledger/heaps.def. */
enum {
  CUHEAP_HEAP_DRIVER = 0,
  CUHEAP_HEAP_TORCH = 1,
  CUHEAP_HEAP_CUHEAP = 2,
  CUHEAP_HEAP_PINNED = 3,
  CUHEAP_HEAP_MANAGED = 4,
  CUHEAP_HEAP_ASYNC = 5,
  CUHEAP_HEAP_VMM = 6,
  CUHEAP_HEAP_IPC = 8
};

/* A block that a heap handed out. Bytes; requested_bytes 0 = the heap does not see requests. */
typedef struct cuheap_block {
  uint64_t address;
  uint64_t block_bytes;
  uint64_t requested_bytes;
  uint64_t stream; /* the handle; 0 = default or unknown */
  uint32_t device; /* CUDA ordinal */
  uint32_t heap;   /* CUHEAP_HEAP_* */
  uint32_t flags;  /* CUHEAP_BLOCK_* */
  uint32_t reserved;
  const void*
      caller; /* return address in the code that asked: names the owner library. NULL = unknown */
} cuheap_block;

enum {
  CUHEAP_BLOCK_UNMAPPED = 2,   /* vmm: physical memory mapped nowhere; address holds the handle */
  CUHEAP_BLOCK_IN_CAPTURE = 16 /* born while a stream was being captured */
};

/* Physical memory of the virtual memory API (cuMemCreate and kin). The core knows which handle is
 * mapped where, so that the sum of the vmm blocks is the physical memory. */
typedef struct cuheap_mapping {
  uint64_t handle;
  uint64_t address; /* of the mapping; 0 where there is none yet */
  uint64_t bytes;
  uint32_t device;
  uint32_t flags;     /* CUHEAP_BLOCK_IN_CAPTURE */
  const void* caller; /* as in cuheap_block */
} cuheap_mapping;

typedef struct cuheap_core_v1_table {
  size_t table_bytes;
  const char* version;

  /* ---- the program's own words */
  void (*step)(void);
  void (*mark)(const char* name);

  /* ---- doors: what they see. The order is law: born after the block exists, died before it is
   * given back. */
  void (*block_born)(const cuheap_block* block);
  /* Returns 1 if the block was known. */
  int (*block_died)(uint32_t heap, uint64_t address);
  /* The free that was announced last for this block failed: it lives on, with its birth data. */
  void (*block_survived)(uint32_t heap, uint64_t address);
  /* An allocation failed for good: the instant is kept. */
  void (*out_of_memory)(uint32_t device, uint64_t requested_bytes);

  /* ---- doors: the driver's figures. `used`: total - free of the whole device, all processes. */
  void (*used_sample)(uint32_t device, uint64_t used_bytes, uint64_t total_bytes);
  void (*pool_sample)(uint32_t device, uint64_t reserved_bytes, uint64_t used_bytes);
  void (*device_identity)(uint32_t device, const uint8_t uuid[16], const char* pci_bus_id);

  /* ---- doors: a place where no lock of torch's is held and the loader lock may be taken (cuInit,
   * an entry-point look-up, a runtime call from outside the torch allocator). Cheap when there is
   * nothing to do. Attaches to Python, refreshes modules, opens the file. */
  void (*safe_point)(void);

  /* ---- doors: calls seen, for the attachment proof. What torch's door tells is counted anyway. */
  void (*count_call)(uint32_t door); /* CUHEAP_DOOR_* */

  /* ---- benchmarks: 0 = doors only forward, nothing is captured or recorded; 1 = as usual. Blocks
   * that came or went meanwhile are wrong in the trace afterwards. */
  void (*watch)(int on);

  /* ---- doors: more of what they see. An allocation attempt failed; the core decides whether that
   * was for good: a caching allocator (torch's) frees its cache and tries again, and says itself
   * when it gives up. */
  void (*allocation_failed)(const cuheap_block* request);
  /* The device was reset: all its blocks are gone. */
  void (*device_reset)(uint32_t device);

  /* ---- doors: physical memory. Created, imported, retained, mapped: after the driver did it.
   * Released, unmapped: before; if the driver then refuses, *_failed takes it back. `bytes` of an
   * import is 0. */
  void (*physical_created)(const cuheap_mapping* memory);
  void (*physical_imported)(const cuheap_mapping* memory);
  void (*physical_retained)(uint64_t handle);
  void (*physical_released)(uint64_t handle);
  void (*physical_release_failed)(uint64_t handle);
  void (*physical_mapped)(const cuheap_mapping* mapping);
  void (*physical_unmapped)(uint64_t address, uint64_t bytes);
  void (*physical_unmap_failed)(uint64_t address, uint64_t bytes);
} cuheap_core_v1_table;

enum { CUHEAP_DOOR_RUNTIME = 0, CUHEAP_DOOR_DRIVER = 1, CUHEAP_DOOR_LOOKUP = 2 };

typedef const cuheap_core_v1_table* cuheap_core_v1_function(void);

/* The table. Exported by libcuheap_preload.so; never NULL there. */
const cuheap_core_v1_table* cuheap_core_v1(void);

#ifdef __cplusplus
}
#endif

#endif /* CUHEAP_CORE_H_ */
