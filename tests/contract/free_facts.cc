// Facts about frees: of what nobody allocated, through another family, and what they wait for.
#include <cstdlib>
#include <thread>

#include "tests/contract/fact_answers.h"
#include "tests/contract/gate.h"

namespace cuheap::contract {
namespace {

CUdeviceptr AsyncBlock(CUstream stream) {
  CUdeviceptr block = 0;
  D().cuMemAllocAsync(&block, 4096, stream);
  D().cuStreamSynchronize(stream);
  return block;
}

// Whether `free` comes back before work that ends 50 ms later.
template <class Free>
std::string WaitsFor(CUstream stream, Free free) {
  if (!Gate::IsPossible()) return kNotUnderThisClock;
  Gate gate;
  D().cuLaunchHostFunc(stream, Gate::Wait, &gate);
  gate.OpenLater();
  const std::string code = Say(free());
  const std::string answer = gate.passed() ? ", waited" : ", did not wait";
  D().cuCtxSynchronize();
  return code + answer;
}

}  // namespace

std::string Answer_double_free() {
  UsePrimary();
  const CUdeviceptr block = Block(4096);
  D().cuMemFree(block);
  return Say(D().cuMemFree(block));
}

std::string Answer_double_free_runtime() {
  if (!RuntimeIsThere()) return "no runtime here";
  void* block = nullptr;
  Runtime().cudaMalloc(&block, 4096);
  Runtime().cudaFree(block);
  return Say(Runtime().cudaFree(block));
}

std::string Answer_double_free_async() {
  UsePrimary();
  CUstream const stream = NewStream();
  const CUdeviceptr block = AsyncBlock(stream);
  D().cuMemFreeAsync(block, stream);
  return Say(D().cuMemFreeAsync(block, stream));
}

std::string Answer_interior_free() {
  UsePrimary();
  return Say(D().cuMemFree(Block(4096) + 256));
}

std::string Answer_interior_free_async() {
  UsePrimary();
  CUstream const stream = NewStream();
  return Say(D().cuMemFreeAsync(AsyncBlock(stream) + 256, stream));
}

std::string Answer_host_free() {
  UsePrimary();
  static char mine[64];
  return Say(D().cuMemFree(reinterpret_cast<CUdeviceptr>(mine)));
}

std::string Answer_pinned_free() {
  UsePrimary();
  void* pinned = nullptr;
  D().cuMemAllocHost(&pinned, 4096);
  return Say(D().cuMemFree(reinterpret_cast<CUdeviceptr>(pinned)));
}

std::string Answer_wild_free() {
  UsePrimary();
  return Say(D().cuMemFree(0x1234));
}

std::string Answer_device_free_host() {
  UsePrimary();
  return Say(D().cuMemFreeHost(reinterpret_cast<void*>(Block(4096))));
}

std::string Answer_free_of_async() {
  UsePrimary();
  return Say(D().cuMemFree(AsyncBlock(NewStream())));
}

std::string Answer_free_async_of_linear() {
  UsePrimary();
  return Say(D().cuMemFreeAsync(Block(4096), NewStream()));
}

std::string Answer_free_without_context() {
  UsePrimary();
  const CUdeviceptr block = Block(4096);
  std::string answer;
  std::thread([&] { answer = Say(D().cuMemFree(block)); }).join();
  return answer;
}

std::string Answer_free_with_another_context() {
  int devices = 0;
  D().cuDeviceGetCount(&devices);
  if (devices < 2) return "one device only";
  UsePrimary(0);
  const CUdeviceptr block = Block(4096);
  UsePrimary(1);
  return Say(D().cuMemFree(block));
}

std::string Answer_free_waits_for_own_stream() {
  UsePrimary();
  const CUdeviceptr block = Block(4096);
  CUstream const stream = NewStream();
  D().cuMemsetD8Async(block, 0, 4096, stream);
  return WaitsFor(stream, [block] { return D().cuMemFree(block); });
}

std::string Answer_free_waits_for_other_stream() {
  UsePrimary();
  const CUdeviceptr block = Block(4096);
  return WaitsFor(NewStream(), [block] { return D().cuMemFree(block); });
}

std::string Answer_host_free_waits() {
  UsePrimary();
  void* pinned = nullptr;
  D().cuMemAllocHost(&pinned, 4096);
  return WaitsFor(NewStream(), [pinned] { return D().cuMemFreeHost(pinned); });
}

}  // namespace cuheap::contract
