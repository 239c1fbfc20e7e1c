// A CUDA program as users write them: kernels, constants, streams, copies, occupancy. It prints
// what it computed and what the library told it, so that it can be checked with and without a
// device that computes.
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

namespace {

constexpr int kElements = 1 << 20;
constexpr int kThreads = 256;
constexpr int kStreams = 2;

__constant__ float factors[4];
__device__ int launches;

void Check(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(error));
  std::exit(1);
}
#define CHECK(call) Check(call, #call)

template <typename T>
__global__ void Scale(T* data, int count) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < count) data[i] *= static_cast<T>(factors[0]);
  if (i == 0) atomicAdd(&launches, 1);
}

// Each stream scales a part of the data in place.
template <typename T>
void ScaleInParts(T* data, cudaStream_t* streams) {
  constexpr int kPart = kElements / kStreams;
  for (int i = 0; i < kStreams; ++i)
    Scale<T><<<kPart / kThreads, kThreads, 0, streams[i]>>>(data + i * kPart, kPart);
  CHECK(cudaGetLastError());
}

template <typename T>
double SumOnHost(const T* data, cudaStream_t stream) {
  std::vector<T> host(kElements);
  CHECK(cudaMemcpyAsync(host.data(), data, kElements * sizeof(T), cudaMemcpyDeviceToHost, stream));
  CHECK(cudaStreamSynchronize(stream));
  double sum = 0;
  for (const T value : host) sum += static_cast<double>(value);
  return sum;
}

template <typename T>
void Run(const char* name, cudaStream_t* streams) {
  const std::vector<T> ones(kElements, T{1});
  T* data = nullptr;
  CHECK(cudaMalloc(&data, kElements * sizeof(T)));
  CHECK(cudaMemcpy(data, ones.data(), kElements * sizeof(T), cudaMemcpyHostToDevice));
  ScaleInParts(data, streams);
  CHECK(cudaDeviceSynchronize());
  std::printf("sum of %s: %.0f\n", name, SumOnHost(data, streams[0]));
  CHECK(cudaFree(data));
}

void PrintGlobals() {
  const float sent[4] = {2, 3, 5, 7};
  float constants[4] = {};
  int count = 0;
  CHECK(cudaMemcpyToSymbol(factors, sent, sizeof(sent)));
  CHECK(cudaMemcpyFromSymbol(constants, factors, sizeof(constants)));
  CHECK(cudaMemcpyFromSymbol(&count, launches, sizeof(count)));
  std::printf("factors: %.0f %.0f %.0f %.0f\nlaunches before: %d\n", constants[0], constants[1],
              constants[2], constants[3], count);
}

}  // namespace

int main() {
  cudaStream_t streams[kStreams];
  for (cudaStream_t& stream : streams) CHECK(cudaStreamCreate(&stream));
  PrintGlobals();
  Run<float>("floats", streams);
  Run<double>("doubles", streams);
  int blocks = 0;
  CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, Scale<float>, kThreads, 0));
  std::printf("resident: %s\n", blocks > 0 ? "yes" : "no");
  // A launch that no device can do: the error comes back at once and leaves the device usable.
  Scale<float><<<1, 2048>>>(nullptr, 0);
  std::printf("too large: %s\n", cudaGetErrorName(cudaGetLastError()));
  for (cudaStream_t stream : streams) CHECK(cudaStreamDestroy(stream));
  CHECK(cudaDeviceSynchronize());
  return 0;
}
