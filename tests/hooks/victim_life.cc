// Cases about processes, threads and captures.
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <thread>
#include <vector>

#include "tests/hooks/victim.h"

namespace {

constexpr std::size_t kBytes = 1 << 20;

void* Allocate() {
  void* block = nullptr;
  Say("malloc", cudaMalloc(&block, kBytes));
  return block;
}

void Fork() {
  void* block = Allocate();
  std::fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    cudaFree(block);
    std::exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  Say("child", status);
  Say("free", cudaFree(block));
  Allocate();
}

void ExitAtOnce() {
  Allocate();
  std::fflush(stdout);
  _exit(0);
}

// Freed by a static destructor, after everybody's exit handlers.
struct Late {
  ~Late() { cudaFree(block); }
  void* block = nullptr;
};
void LateFree() {
  static Late late;
  late.block = Allocate();
}

void Threads() {
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([] {
      for (int i = 0; i < 500; ++i) {
        void* block = nullptr;
        if (cudaMalloc(&block, 4096) != cudaSuccess ||
            (i % 5 != 0 && cudaFree(block) != cudaSuccess))
          std::abort();
      }
    });
  for (std::thread& thread : threads) thread.join();
}

void Devices() {
  for (int device = 0; device < 2; ++device) {
    Say("set", cudaSetDevice(device));
    for (int i = 0; i <= device; ++i) Allocate();
  }
}

// The second device's memory goes while the first one is current.
void FarFree() {
  void* block = nullptr;
  Say("set", cudaSetDevice(1));
  Say("malloc", cudaMalloc(&block, 64 * kBytes));
  std::size_t total = 0;
  Say("back", cudaSetDevice(0));
  Say("free", cudaFree(block));
  Say("set", cudaSetDevice(1));
  std::size_t left = 0;
  Say("info", cudaMemGetInfo(&left, &total));
  std::printf("used %zu\n", total - left);
}

void Reset() {
  Allocate();
  Allocate();
  Say("reset", cudaDeviceReset());
  Allocate();
}

void Capture() {
  cudaStream_t stream = nullptr;
  cudaGraph_t graph = nullptr;
  Say("stream", cudaStreamCreate(&stream));
  void* block = nullptr;
  Say("begin", cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
  Say("inside", cudaMalloc(&block, kBytes));
  Say("end", cudaStreamEndCapture(stream, &graph));
  Say("not capturing", cudaStreamEndCapture(stream, &graph));
  Say("last", cudaGetLastError());
  Say("after", cudaMalloc(&block, 2 * kBytes));
}

void NoMemory() {
  int count = 0;
  Say("count", cudaGetDeviceCount(&count));
  std::printf("devices %d\n", count);
}

void TooMuch() {
  void* block = nullptr;
  Say("too much", cudaMalloc(&block, std::size_t{1} << 40));
}

}  // namespace

constexpr Case kLifeCases[] = {{"fork", Fork},          {"exit-at-once", ExitAtOnce},
                               {"late-free", LateFree}, {"threads", Threads},
                               {"devices", Devices},    {"reset", Reset},
                               {"capture", Capture},    {"no-memory", NoMemory},
                               {"too-much", TooMuch},   {"far-free", FarFree},
                               {nullptr, nullptr}};
