// What the simulated device itself costs under the eager clock: nanoseconds a call, bytes of the
// host a live allocation. Prints rows of JSON, as bench/run.py takes them.
#include <cuda.h>
#include <cuda_runtime_api.h>

#include <chrono>
#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

namespace {

void Row(const char* name, double value, const char* unit, double bound) {
  std::printf(R"({"name": "%s", "value": %.2f, "unit": "%s", "bound": %g})"
              "\n",
              name, value, unit, bound);
}

// The best of several rounds: what the code costs, not what else the machine does.
template <class Call>
double NanosecondsEach(Call call) {
  using Clock = std::chrono::steady_clock;
  constexpr int kRounds = 20;
  constexpr int kCalls = 20'000;
  double best = 1e18;
  for (int round = 0; round < kRounds; ++round) {
    const Clock::time_point start = Clock::now();
    for (int i = 0; i < kCalls; ++i) call();
    const std::chrono::duration<double, std::nano> took = Clock::now() - start;
    best = std::min(best, took.count() / kCalls);
  }
  return best;
}

double ResidentMiB() {
  std::ifstream file("/proc/self/statm");
  std::size_t size = 0;
  std::size_t resident = 0;
  file >> size >> resident;
  return static_cast<double>(resident) * 4096 / (1 << 20);
}

CUfunction Kernel() {
  CUmodule module = nullptr;
  CUfunction function = nullptr;
  cuModuleLoadData(&module, "any image is accepted");
  cuModuleGetFunction(&function, module, "kernel");
  return function;
}

void Pairs() {
  const auto pair = [](std::size_t bytes) {
    return NanosecondsEach([bytes] {
      void* block = nullptr;
      cudaMalloc(&block, bytes);
      cudaFree(block);
    });
  };
  Row("cudaMalloc and cudaFree, 512 bytes", pair(512), "ns", 1000);
  Row("cudaMalloc and cudaFree, 512 KiB", pair(512 << 10), "ns", 1000);
  Row("cudaMalloc and cudaFree, 20 MiB", pair(20 << 20), "ns", 1000);
  Row("cudaMallocAsync and cudaFreeAsync, 512 KiB", NanosecondsEach([] {
        void* block = nullptr;
        cudaMallocAsync(&block, 512 << 10, nullptr);
        cudaFreeAsync(block, nullptr);
      }),
      "ns", 1000);
}

void Launches() {
  CUstream stream = nullptr;
  cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING);
  Row("cuLaunchKernel", NanosecondsEach([stream, function = Kernel()] {
        cuLaunchKernel(function, 1, 1, 1, 128, 1, 1, 0, stream, nullptr, nullptr);
      }),
      "ns", 300);
}

void LiveAllocations() {
  constexpr int kCount = 1'000'000;
  const double before = ResidentMiB();
  std::vector<void*> blocks(kCount);
  for (void*& block : blocks) cudaMalloc(&block, 512);
  Row("host memory of a million live allocations", ResidentMiB() - before, "MiB", 1024);
  for (void* block : blocks) cudaFree(block);
}

}  // namespace

int main() {
  cudaFree(nullptr);
  Pairs();
  Launches();
  LiveAllocations();
  return 0;
}
