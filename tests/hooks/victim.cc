// The families of the runtime's memory: each allocates two and frees one.
#include "tests/hooks/victim.h"

#include <cstring>
#include <initializer_list>

namespace {

constexpr std::size_t kBytes = 1 << 20;

template <typename Allocate, typename Free>
void KeepOneOfTwo(Allocate allocate, Free free) {
  void* kept = nullptr;
  void* freed = nullptr;
  Say("first", allocate(&kept));
  Say("second", allocate(&freed));
  Say("free", free(freed));
}

void Malloc() {
  KeepOneOfTwo([](void** p) { return cudaMalloc(p, kBytes); }, cudaFree);
}
void Managed() {
  KeepOneOfTwo([](void** p) { return cudaMallocManaged(p, kBytes, cudaMemAttachGlobal); },
               cudaFree);
}
void Host() {
  KeepOneOfTwo([](void** p) { return cudaMallocHost(p, kBytes); }, cudaFreeHost);
  KeepOneOfTwo([](void** p) { return cudaHostAlloc(p, kBytes, cudaHostAllocDefault); },
               cudaFreeHost);
}
void Registered() {
  alignas(4096) static char memory[2][1 << 16];
  Say("first", cudaHostRegister(memory[0], sizeof memory[0], cudaHostRegisterDefault));
  Say("second", cudaHostRegister(memory[1], sizeof memory[1], cudaHostRegisterDefault));
  Say("free", cudaHostUnregister(memory[1]));
}
void Pitched() {
  std::size_t pitch = 0;
  void* plane = nullptr;
  Say("pitch", cudaMallocPitch(&plane, &pitch, 100, 50));
  std::printf("bytes %zu\n", pitch * 50);
}
void Volume() {
  cudaPitchedPtr volume{};
  Say("volume", cudaMalloc3D(&volume, cudaExtent{100, 10, 5}));
  std::printf("bytes %zu\n", volume.pitch * 50);
}
void Async() {
  cudaStream_t stream = nullptr;
  Say("stream", cudaStreamCreate(&stream));
  void* kept = nullptr;
  void* freed = nullptr;
  Say("first", cudaMallocAsync(&kept, kBytes, stream));
  Say("second", cudaMallocAsync(&freed, kBytes, stream));
  Say("free", cudaFreeAsync(freed, stream));
  Say("wait", cudaStreamSynchronize(stream));
}

// Freed through the other family: both are allowed.
void Mixed() {
  void* block = nullptr;
  Say("async", cudaMallocAsync(&block, kBytes, nullptr));
  Say("wait", cudaDeviceSynchronize());
  Say("free", cudaFree(block));
  Say("malloc", cudaMalloc(&block, kBytes));
  Say("free", cudaFreeAsync(block, nullptr));
}

// Everything a caller may do wrong; codes and the last error are the runtime's own.
void Wrong() {
  void* block = reinterpret_cast<void*>(0xdead);
  Say("too much", cudaMalloc(&block, std::size_t{1} << 40));
  std::printf("untouched %d\n", block == reinterpret_cast<void*>(0xdead));
  Say("peek", cudaPeekAtLastError());
  void* good = nullptr;
  Say("good", cudaMalloc(&good, kBytes));
  Say("last", cudaGetLastError());
  Say("again", cudaGetLastError());
  Say("interior", cudaFree(static_cast<char*>(good) + 256));
  Say("last", cudaGetLastError());
  Say("unknown", cudaFree(reinterpret_cast<void*>(0x1234)));
  Say("last", cudaGetLastError());
  Say("null", cudaFree(nullptr));
  Say("null host", cudaFreeHost(nullptr));
  Say("nothing", cudaMalloc(&block, 0));
  Say("no place", cudaMalloc(nullptr, kBytes));
  Say("last", cudaGetLastError());
  Say("double", cudaFree(good));
  Say("double", cudaFree(good));
  Say("last", cudaGetLastError());
}

constexpr Case kMemoryCases[] = {
    {"malloc", Malloc},   {"managed", Managed}, {"host", Host},   {"registered", Registered},
    {"pitched", Pitched}, {"volume", Volume},   {"async", Async}, {"mixed", Mixed},
    {"wrong", Wrong},     {nullptr, nullptr}};

}  // namespace

int main(int count, char** arguments) {
  for (const Case* cases : {kMemoryCases, kLifeCases, kPhysicalCases})
    for (const Case* one = cases; one->name != nullptr; ++one)
      if (count == 2 && std::strcmp(one->name, arguments[1]) == 0) {
        one->run();
        return 0;
      }
  std::fprintf(stderr, "no such case\n");
  return 2;
}
