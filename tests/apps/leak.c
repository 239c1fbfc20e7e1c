/* A C program with a leak: of ten buffers it frees nine. */
#include <cuda_runtime_api.h>
#include <stdio.h>

enum { kBuffers = 10, kBytes = 1 << 20 };

static void* allocate(void) {
  void* buffer = NULL;
  return cudaMalloc(&buffer, kBytes) == cudaSuccess ? buffer : NULL;
}

int main(void) {
  void* buffers[kBuffers];
  for (int i = 0; i < kBuffers; ++i) {
    buffers[i] = allocate();
    if (buffers[i] == NULL) return 1;
  }
  for (int i = 1; i < kBuffers; ++i)
    if (cudaFree(buffers[i]) != cudaSuccess) return 1;
  puts("done");
  return 0;
}
