/* cuheap.h in a program without CUDA and without any library. */
#include <cuheap/cuheap.h>
#include <stdio.h>

int main(void) {
  for (int i = 0; i < 1000; ++i) cuheap_step();
  cuheap_mark("here");
  puts(cuheap_version() != NULL ? "watched" : "alone");
  return 0;
}
