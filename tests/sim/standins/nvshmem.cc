// NVSHMEM: there is no peer, so nothing is initialised and no symmetric memory exists.
#include "tests/sim/standins/standin.h"

using namespace cuheap::sim_standin;

namespace {

void* NoMemory(bool* said) {
  SayOnce(said, "NVSHMEM's stand-in has no symmetric memory");
  return nullptr;
}

bool said_no_memory;

}  // namespace

CUHEAP_STANDIN int nvshmemid_init_status() { return 0; }  // not initialised
CUHEAP_STANDIN void nvshmem_info_get_version(int* major, int* minor) {
  *major = 3;
  *minor = 0;
}
CUHEAP_STANDIN void* nvshmem_malloc(std::size_t) { return NoMemory(&said_no_memory); }
CUHEAP_STANDIN void* nvshmem_ptr(const void*, int) { return NoMemory(&said_no_memory); }
CUHEAP_STANDIN void* nvshmemx_mc_ptr(int, const void*) { return NoMemory(&said_no_memory); }
