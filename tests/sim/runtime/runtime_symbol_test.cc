// Device variables: their sizes, and copies to and from them.
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <vector>

#include "tests/sim/runtime/compiled_code.h"

namespace {

TEST(RuntimeSymbolTest, ADeviceVariableKeepsItsValue) {
  CompiledCode code;
  const std::vector<char> written(48, 'x');
  std::vector<char> read(48);
  size_t size = 0;
  EXPECT_EQ(cudaGetSymbolSize(&size, code.variable()), cudaSuccess);
  EXPECT_EQ(size, 64u);
  EXPECT_EQ(cudaMemcpyToSymbol(code.variable(), written.data(), written.size(), 16,
                               cudaMemcpyHostToDevice),
            cudaSuccess);
  EXPECT_EQ(
      cudaMemcpyFromSymbol(read.data(), code.variable(), read.size(), 16, cudaMemcpyDeviceToHost),
      cudaSuccess);
  EXPECT_EQ(read, written);
  EXPECT_EQ(cudaMemcpyToSymbol(code.variable(), written.data(), written.size(), 17,
                               cudaMemcpyHostToDevice),
            cudaErrorInvalidValue);
  EXPECT_EQ(cudaGetSymbolSize(&size, &size), cudaErrorInvalidSymbol);
}

TEST(RuntimeSymbolTest, ADeviceVariableIsCopiedInStreamsToo) {
  CompiledCode code;
  const std::vector<char> written(48, 'y');
  std::vector<char> read(48);
  cudaStream_t stream = nullptr;
  ASSERT_EQ(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), cudaSuccess);
  EXPECT_EQ(
      cudaMemcpyToSymbolAsync(code.variable(), written.data(), 48, 16, cudaMemcpyDefault, stream),
      cudaSuccess);
  EXPECT_EQ(cudaMemcpyFromSymbolAsync(read.data(), code.variable(), 48, 16, cudaMemcpyDeviceToHost,
                                      stream),
            cudaSuccess);
  EXPECT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
  EXPECT_EQ(read, written);
  EXPECT_EQ(
      cudaMemcpyFromSymbolAsync(read.data(), code.variable(), 48, 17, cudaMemcpyDefault, stream),
      cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemcpyToSymbolAsync(&stream, written.data(), 1, 0, cudaMemcpyDefault, stream),
            cudaErrorInvalidSymbol);
  EXPECT_EQ(cudaStreamDestroy(stream), cudaSuccess);
}

TEST(RuntimeSymbolTest, TheDirectionOfACopyMustHaveTheVariableOnTheDevice) {
  CompiledCode code;
  char host[8] = {};
  const auto to = [&](int kind) {
    const auto direction = static_cast<cudaMemcpyKind>(kind);
    const cudaError_t now = cudaMemcpyToSymbol(code.variable(), host, 8, 0, direction);
    EXPECT_EQ(now, cudaMemcpyToSymbolAsync(code.variable(), host, 8, 0, direction, nullptr));
    return now;
  };
  const auto from = [&](int kind) {
    const auto direction = static_cast<cudaMemcpyKind>(kind);
    const cudaError_t now = cudaMemcpyFromSymbol(host, code.variable(), 8, 0, direction);
    EXPECT_EQ(now, cudaMemcpyFromSymbolAsync(host, code.variable(), 8, 0, direction, nullptr));
    return now;
  };
  for (const int kind : {0, 2, 5, 7}) EXPECT_EQ(to(kind), cudaErrorInvalidMemcpyDirection);
  for (const int kind : {0, 1, 5, 7}) EXPECT_EQ(from(kind), cudaErrorInvalidMemcpyDirection);
  EXPECT_EQ(to(cudaMemcpyHostToDevice), cudaSuccess);
  EXPECT_EQ(from(cudaMemcpyDeviceToHost), cudaSuccess);
  EXPECT_EQ(to(cudaMemcpyDefault), cudaSuccess);
  EXPECT_EQ(from(cudaMemcpyDefault), cudaSuccess);
  void* device = nullptr;
  ASSERT_EQ(cudaMalloc(&device, 8), cudaSuccess);
  EXPECT_EQ(cudaMemcpyToSymbol(code.variable(), device, 8, 0, cudaMemcpyDeviceToDevice),
            cudaSuccess);
  EXPECT_EQ(cudaMemcpyFromSymbol(device, code.variable(), 8, 0, cudaMemcpyDeviceToDevice),
            cudaSuccess);
  EXPECT_EQ(cudaFree(device), cudaSuccess);
  EXPECT_EQ(cudaGetSymbolSize(nullptr, code.variable()), cudaErrorInvalidValue);
}

}  // namespace
