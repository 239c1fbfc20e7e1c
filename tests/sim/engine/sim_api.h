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
  CUHEAP_SIM_ARRAY = 6,   /* arrays */
  CUHEAP_SIM_KINDS = 7
};

/* Bytes of whole 2 MiB pages that this process holds on the device. The sum over kinds plus
 * cuheap_sim_other_processes is what cuMemGetInfo calls used. */
uint64_t cuheap_sim_used(int device, int kind);
uint64_t cuheap_sim_other_processes(int device);
/* Bytes and blocks that the application asked for and has not freed: linear, pooled, static,
 * arrays. */
uint64_t cuheap_sim_live_bytes(int device, int kind);
uint64_t cuheap_sim_live_blocks(int device, int kind);
/* Of all devices, and of one. A primary context counts anew each time that it comes to life. */
uint64_t cuheap_sim_contexts_created(void);
uint64_t cuheap_sim_contexts_created_on(int device);
/* The driver is gone from now on, as late in a process's exit (setting CUHEAP_SIM_SHUTDOWN): every
 * call of it says DEINITIALIZED. The functions of this file go on. */
void cuheap_sim_shut_down(void);
/* Host bytes that are pinned: allocated, registered, behind handles or reserved by pools. */
uint64_t cuheap_sim_pinned(void);

/* 1: freed device memory is given out again in the reverse order of its frees, as far as lengths
 * agree; 0, as at first: the lowest first. */
void cuheap_sim_reuse_latest_first(int on);

/* What the kernel does beyond vm.max_map_count, sooner: after so many mappings made or opened to
 * access from now on, all are refused, and calls that need one fail as out of memory, also in the
 * middle of their work. UINT64_MAX: no such limit. */
void cuheap_sim_limit_mappings(uint64_t more);

/* Images are not read, so a module's or library's globals are declared by whoever knows them.
 * 0: done; 1: no such module or library, or no bytes. */
int cuheap_sim_declare_global(void* module_or_library, const char* name, size_t bytes);
/* The same for a __managed__ variable. */
int cuheap_sim_declare_managed(void* module_or_library, const char* name, size_t bytes);

/* The manual clock. One operation of a stream, or as many as can be done: whether any was. Streams
 * as handles of the driver; the default ones mean the current context's. */
int cuheap_sim_advance_one(void* stream);
int cuheap_sim_advance_stream(void* stream);
int cuheap_sim_run_until_idle(void);

/* The seeded clock's order of threads: no call goes on before so many threads have called, and the
 * calling thread's place among them, else the order of their first calls. */
void cuheap_sim_expect_threads(size_t count);
void cuheap_sim_name_thread(int place);

/* A kernel that declares what it touches. CUresult. */
struct cuheap_sim_range {
  uint64_t base;
  uint64_t bytes;
  int writes;
};
int cuheap_sim_launch(void* stream, const char* name, const struct cuheap_sim_range* ranges,
                      size_t count);
/* The same with a body. `run(data)` does the work at each execution: on memory of the ranges only,
 * without a call of the driver. `release(data)` comes once, when it cannot run again; after a
 * failed launch too. A collective runs for ranks in several contexts, whose ranges need not be open
 * to the device of the stream: they meet by ways of the library. */
struct cuheap_sim_body {
  void (*run)(void* data);
  void (*release)(void* data);
  void* data;
  int is_collective;
};
int cuheap_sim_launch_body(void* stream, const char* name, const struct cuheap_sim_range* ranges,
                           size_t count, const struct cuheap_sim_body* body);

/* The handle of a conditional node, as a kernel in this place of the stream sets it: each time that
 * the operation is done it writes the next of `values`, after the last the first again. Captured
 * into the body of a WHILE, {1, 1, 0} makes three turns. CUresult. */
int cuheap_sim_set_conditional(void* stream, uint64_t handle, const unsigned* values, size_t count);

/* Races reported so far; the text of the last one, cut to `room`; forgetting them. */
uint64_t cuheap_sim_races(void);
void cuheap_sim_last_race(char* text, size_t room);
void cuheap_sim_forget_races(void);

/* Calls that fail on purpose (faults.h says how they are counted). Rules add up until cleared;
 * those of CUHEAP_SIM_FAULTS are armed before the first of these does its work. */
/* function: a base name such as "cuMemAlloc"; NULL: any. call: the n-th from now on, from 1; 0:
 * each. code: a CUresult. 0: armed; 1: no such function, or no such code. */
int cuheap_sim_fail(const char* function, uint64_t call, int code);
/* Forgets the rules and the counts. */
void cuheap_sim_clear_faults(void);
/* Since faults were cleared last: calls that failed on purpose, and the function of the latest
 * (NULL: none). */
uint64_t cuheap_sim_faults_fired(void);
const char* cuheap_sim_last_faulted(void);
/* Calls counted while any rule was armed; NULL: of all functions. */
uint64_t cuheap_sim_calls_counted(const char* function);

/* The log of driver calls in memory (call_log.h), in the order in which they returned. A forked
 * child goes on with a copy. */
#define CUHEAP_SIM_MOST_ARGUMENTS 18
struct cuheap_sim_call {
  const char* function; /* base name, "cuMemAlloc"; it and the next live as long as the library */
  const char* symbol;   /* entry point, "cuMemAlloc_v2" */
  int64_t thread;       /* the kernel's number of it */
  int result;           /* CUresult */
  unsigned argument_count;
  uint64_t arguments[CUHEAP_SIM_MOST_ARGUMENTS]; /* pointers and numbers; 0: a structure by value */
  uint64_t start_ns;                             /* monotonic clock */
  uint64_t duration_ns;                          /* that the simulation took */
  uint64_t latency_ns;                           /* that was charged, see below */
  int answer;                                    /* to cuheap_sim_log_ask, see below */
};
/* Calls that return from now on are recorded, until stop; entries stay until clear. */
void cuheap_sim_log_start(void);
/* `question` is asked when a call begins, in its thread, and must call nothing here: whether the
 * caller holds a lock, say. NULL: nothing is asked, and answers are 0. */
void cuheap_sim_log_ask(int (*question)(void));
void cuheap_sim_log_stop(void);
void cuheap_sim_log_clear(void);
size_t cuheap_sim_log_size(void);
/* 0: done; 1: no such entry. */
int cuheap_sim_log_read(size_t index, struct cuheap_sim_call* out);

/* Nanoseconds that calls would have taken on a device, by the figures of latency.def: of the
 * process, and of the calling thread, while they were charged. They only grow: take differences. */
void cuheap_sim_charge_latency(int on);
uint64_t cuheap_sim_latency_of_process(void);
uint64_t cuheap_sim_latency_of_thread(void);

#ifdef __cplusplus
}
#endif

#endif /* CUHEAP_TESTS_SIM_ENGINE_SIM_API_H_ */
