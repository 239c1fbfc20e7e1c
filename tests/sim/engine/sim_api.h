/* What the simulated machine knows by itself, for tests: plain C, reachable through ctypes from
 * libcuheap_sim.so. All functions are thread-safe and answer 0 before cuInit. */
#ifndef CUHEAP_TESTS_SIM_ENGINE_SIM_API_H_
#define CUHEAP_TESTS_SIM_ENGINE_SIM_API_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum cuheap_sim_kind {
  CUHEAP_SIM_CONTEXT = 0, /* what contexts take */
  CUHEAP_SIM_LINEAR = 1,  /* cuMemAlloc */
  CUHEAP_SIM_VMM = 2,     /* cuMemCreate, mapped or not */
  CUHEAP_SIM_POOL = 3,    /* reserved by stream-ordered pools */
  CUHEAP_SIM_STATIC = 4,  /* globals of modules */
  CUHEAP_SIM_GRAPH = 5,   /* allocation nodes of graphs */
  CUHEAP_SIM_KINDS = 6
};

/* Bytes of whole 2 MiB pages that this process holds on the device. The sum over kinds plus
 * cuheap_sim_other_processes is what cuMemGetInfo calls used. */
uint64_t cuheap_sim_used(int device, int kind);
uint64_t cuheap_sim_other_processes(int device);
/* Bytes and blocks that the application asked for and has not freed: linear, pooled, static. */
uint64_t cuheap_sim_live_bytes(int device, int kind);
uint64_t cuheap_sim_live_blocks(int device, int kind);
uint64_t cuheap_sim_contexts_created(void);
/* Host bytes that are pinned: allocated or registered. */
uint64_t cuheap_sim_pinned(void);

/* Images are not read, so a module's or library's globals are declared by whoever knows them.
 * 0: done; 1: no such module or library, or no bytes. */
int cuheap_sim_declare_global(void* module_or_library, const char* name, size_t bytes);

/* The manual clock. One operation of a stream, or as many as can be done: whether any was. Streams
 * as handles of the driver; the default ones mean the current context's. */
int cuheap_sim_advance_one(void* stream);
int cuheap_sim_advance_stream(void* stream);
int cuheap_sim_run_until_idle(void);

/* A kernel that declares what it touches. CUresult. */
struct cuheap_sim_range {
  uint64_t base;
  uint64_t bytes;
  int writes;
};
int cuheap_sim_launch(void* stream, const char* name, const struct cuheap_sim_range* ranges,
                      size_t count);

/* Races reported so far; the text of the last one, cut to `room`; forgetting them. */
uint64_t cuheap_sim_races(void);
void cuheap_sim_last_race(char* text, size_t room);
void cuheap_sim_forget_races(void);

#ifdef __cplusplus
}
#endif

#endif /* CUHEAP_TESTS_SIM_ENGINE_SIM_API_H_ */
