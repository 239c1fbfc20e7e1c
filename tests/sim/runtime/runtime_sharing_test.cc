// Memory, events and pools that two processes share through the runtime. The test's own process
// never calls it.
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "tests/sim/tests/channel.h"
#include "tests/sim/tests/child.h"

namespace cuheap::sim {
namespace {

constexpr auto kDescriptor = cudaMemHandleTypePosixFileDescriptor;

struct Handles {
  cudaIpcMemHandle_t memory;
  cudaIpcEventHandle_t event;
  cudaMemPoolPtrExportData block;
};

class RuntimeSharingTest : public testing::Test {
 protected:
  void SetUp() override {
    prefix_ = testing::TempDir() + "cuheap_sim_runtime_" + std::to_string(getpid());
    setenv("CUHEAP_SIM_SHARED", prefix_.c_str(), 1);
    setenv("CUHEAP_SIM_MEMORY", "1G", 1);
    ASSERT_EQ(0, pipe(handles_));
    ASSERT_EQ(0, pipe(done_));
  }
  void TearDown() override {
    unsetenv("CUHEAP_SIM_SHARED");
    for (const char* suffix : {".control", ".exports", ".host", ".dev0", ".dev1"}) {
      std::remove((prefix_ + suffix).c_str());
    }
  }

  int Make() {
    void* memory = nullptr;
    void* block = nullptr;
    cudaEvent_t event = nullptr;
    cudaMemPool_t pool = nullptr;
    int fd = -1;
    Handles handles{};
    cudaMemPoolProps properties{};
    properties.allocType = cudaMemAllocationTypePinned;
    properties.handleTypes = kDescriptor;
    properties.location = {cudaMemLocationTypeDevice, 0};
    CHILD_NEEDS(cudaMalloc(&memory, 4096) == cudaSuccess);
    CHILD_NEEDS(cudaMemset(memory, 3, 4096) == cudaSuccess);
    CHILD_NEEDS(cudaMemPoolCreate(&pool, &properties) == cudaSuccess);
    CHILD_NEEDS(cudaMallocFromPoolAsync(&block, 4096, pool, nullptr) == cudaSuccess);
    CHILD_NEEDS(cudaMemset(block, 4, 4096) == cudaSuccess);
    CHILD_NEEDS(cudaEventCreateWithFlags(&event, cudaEventInterprocess | cudaEventDisableTiming) ==
                cudaSuccess);
    CHILD_NEEDS(cudaEventRecord(event, nullptr) == cudaSuccess);
    CHILD_NEEDS(cudaIpcGetMemHandle(&handles.memory, memory) == cudaSuccess);
    CHILD_NEEDS(cudaIpcGetEventHandle(&handles.event, event) == cudaSuccess);
    CHILD_NEEDS(cudaMemPoolExportToShareableHandle(&fd, pool, kDescriptor, 0) == cudaSuccess);
    CHILD_NEEDS(cudaMemPoolExportPointer(&handles.block, block) == cudaSuccess);
    CHILD_NEEDS(channel_.SendDescriptor(fd));
    CHILD_NEEDS(write(handles_[1], &handles, sizeof handles) == sizeof handles);
    char word = 0;
    CHILD_NEEDS(read(done_[0], &word, 1) == 1);
    return 0;
  }

  int Take() {
    Handles handles{};
    void* memory = nullptr;
    void* block = nullptr;
    cudaEvent_t event = nullptr;
    cudaMemPool_t pool = nullptr;
    const int fd = channel_.ReceiveDescriptor();
    CHILD_NEEDS(read(handles_[0], &handles, sizeof handles) == sizeof handles);
    CHILD_NEEDS(cudaIpcOpenMemHandle(&memory, handles.memory, cudaIpcMemLazyEnablePeerAccess) ==
                cudaSuccess);
    CHILD_NEEDS(cudaIpcOpenEventHandle(&event, handles.event) == cudaSuccess);
    CHILD_NEEDS(cudaMemPoolImportFromShareableHandle(
                    &pool, reinterpret_cast<void*>(static_cast<std::intptr_t>(fd)), kDescriptor,
                    0) == cudaSuccess);
    CHILD_NEEDS(cudaMemPoolImportPointer(&block, pool, &handles.block) == cudaSuccess);
    CHILD_NEEDS(cudaStreamWaitEvent(nullptr, event, 0) == cudaSuccess);
    CHILD_NEEDS(cudaEventSynchronize(event) == cudaSuccess);
    unsigned char bytes[2] = {};
    CHILD_NEEDS(cudaMemcpy(&bytes[0], memory, 1, cudaMemcpyDefault) == cudaSuccess);
    CHILD_NEEDS(cudaMemcpy(&bytes[1], block, 1, cudaMemcpyDefault) == cudaSuccess);
    CHILD_NEEDS(bytes[0] == 3 && bytes[1] == 4);
    CHILD_NEEDS(cudaIpcCloseMemHandle(memory) == cudaSuccess);
    CHILD_NEEDS(cudaFreeAsync(block, nullptr) == cudaSuccess);
    CHILD_NEEDS(cudaMemPoolDestroy(pool) == cudaSuccess);
    CHILD_NEEDS(cudaEventDestroy(event) == cudaSuccess);
    CHILD_NEEDS(write(done_[1], "x", 1) == 1);
    return 0;
  }

  std::string prefix_;
  Channel channel_;
  int handles_[2];
  int done_[2];
};

TEST_F(RuntimeSharingTest, AnotherProcessReadsMemoryAPoolsBlockAndAnEvent) {
  const pid_t maker = fork();
  if (maker == 0) _exit(Make());
  EXPECT_EQ(0, ExitOf([this] { return Take(); }));
  int status = -1;
  EXPECT_EQ(maker, waitpid(maker, &status, 0));
  EXPECT_EQ(0, status);
}

}  // namespace
}  // namespace cuheap::sim
