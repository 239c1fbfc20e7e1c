/* A loop that tells its steps: cuheap.h from C11, with device memory. Keeps one buffer more each
 * step. */
#include <cuda_runtime_api.h>
#include <cuheap/cuheap.h>
#include <stdio.h>

enum { kSteps = 40, kBytes = 64 << 10 };

int main(void) {
  for (int step = 0; step < kSteps; ++step) {
    void* kept = NULL;
    void* temporary = NULL;
    if (cudaMalloc(&kept, kBytes) != cudaSuccess || cudaMalloc(&temporary, kBytes) != cudaSuccess)
      return 1;
    if (cudaFree(temporary) != cudaSuccess) return 1;
    if (step == kSteps / 2) cuheap_mark("half");
    cuheap_step();
  }
  printf("%s\n", cuheap_version() != NULL ? cuheap_version() : "alone");
  return 0;
}
