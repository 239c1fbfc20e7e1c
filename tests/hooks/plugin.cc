// A library that depends on the runtime, loaded into a local scope.
#include <cuda_runtime_api.h>

extern "C" __attribute__((visibility("default"))) int plugin_allocate(void) {
  void* block = nullptr;
  return cudaMalloc(&block, 1 << 20);
}
