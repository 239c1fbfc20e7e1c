/* cuheap.h: what a program may tell cuheap. C11 and C++; needs no CUDA header and no library.
 *
 * The functions reach the core that LD_PRELOAD put into the process, through its one symbol
 * cuheap_core_v1. Without it they do nothing and cost one test of a pointer, so a program may call
 * them always.
 *
 * Threads: any thread at any time. Errors: none is reported; a call that cannot be served is
 * counted in the trace.
 */
#ifndef CUHEAP_CUHEAP_H_
#define CUHEAP_CUHEAP_H_

#include <cuheap/core.h>
#include <dlfcn.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The core in this process, or NULL. Looked up once; later calls are one load. */
static inline const cuheap_core_v1_table* cuheap_core(void) {
  static const cuheap_core_v1_table* core;
  static int looked_up;
  if (!__atomic_load_n(&looked_up, __ATOMIC_ACQUIRE)) {
    cuheap_core_v1_function* find;
    *(void**)&find = dlsym(RTLD_DEFAULT, "cuheap_core_v1");
    __atomic_store_n(&core, find != NULL ? find() : NULL, __ATOMIC_RELAXED);
    __atomic_store_n(&looked_up, 1, __ATOMIC_RELEASE);
  }
  return __atomic_load_n(&core, __ATOMIC_RELAXED);
}

/* One turn of the program's loop is over. The strongest step signal: once called, the program's
 * steps are the clock. */
static inline void cuheap_step(void) {
  const cuheap_core_v1_table* core = cuheap_core();
  if (core != NULL) core->step();
}

/* A named instant: what is live now is kept for the report (--at mark:NAME). `name`: UTF-8, copied,
 * cut at 200 bytes. */
static inline void cuheap_mark(const char* name) {
  const cuheap_core_v1_table* core = cuheap_core();
  if (core != NULL) core->mark(name);
}

/* Version of the core in this process, as "0.1.0"; NULL if there is none. The text lives as long as
 * the process. */
static inline const char* cuheap_version(void) {
  const cuheap_core_v1_table* core = cuheap_core();
  return core != NULL ? core->version : NULL;
}

#ifdef __cplusplus
}
#endif

#endif /* CUHEAP_CUHEAP_H_ */
