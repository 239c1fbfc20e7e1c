// The fixture of the contract: every promise is tested through three faces, the driver by its
// symbols, the driver by its resolver, and the shared runtime.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "tests/contract/driver_face.h"
#include "tests/contract/gate.h"
#include "tests/contract/runtime_face.h"
#include "tests/contract/simulation.h"

namespace cuheap::contract {

inline constexpr std::size_t kMiB = 1U << 20;
inline void* const kPreset = reinterpret_cast<void*>(0xdead0000);

// REQUIRES of a test what not every device can show; where it is absent the test says so.
#define CUHEAP_CONTRACT_NEEDS(condition, what) \
  if (!(condition)) GTEST_SKIP() << "needs " << (what)

template <class TheFace>
class Contract : public ::testing::Test {
 protected:
  using Face = TheFace;

  void SetUp() override {
    CUHEAP_CONTRACT_NEEDS(Face::IsThere(), "libcudart.so.13");
    ASSERT_OK(Face::UseDevice(0));
    ASSERT_OK(Face::Synchronize());
  }
  void TearDown() override {
    if (!Face::IsThere()) return;
    EXPECT_OK(Face::Synchronize()) << "the test broke its context";
  }

  static void* Malloc(std::size_t bytes) {
    void* pointer = nullptr;
    EXPECT_OK(Face::Malloc(&pointer, bytes));
    return pointer;
  }
  static CUstream NewStream() {
    CUstream stream = nullptr;
    EXPECT_OK(Face::StreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    return stream;
  }
  static CUevent NewEvent(unsigned flags = CU_EVENT_DISABLE_TIMING) {
    CUevent event = nullptr;
    EXPECT_OK(Face::EventCreate(&event, flags));
    return event;
  }
  static std::size_t FreeMemory() {
    std::size_t free = 0;
    std::size_t total = 0;
    EXPECT_OK(Face::MemGetInfo(&free, &total));
    return free;
  }
  static int Devices() {
    int count = 0;
    EXPECT_OK(Face::GetDeviceCount(&count));
    return count;
  }
  // The bytes at `from`, copied in order of `stream` and waited for.
  static std::vector<unsigned char> Bytes(const void* from, std::size_t count, CUstream stream) {
    std::vector<unsigned char> bytes(count);
    EXPECT_OK(Face::MemcpyAsync(bytes.data(), from, count, stream));
    EXPECT_OK(Face::StreamSynchronize(stream));
    return bytes;
  }
  static void Queue(CUstream stream, Gate* gate) {
    EXPECT_OK(Face::LaunchHostFunc(stream, Gate::Wait, gate));
  }
};

using SymbolsFace = DriverFace<Road::kSymbols>;
using ResolverFace = DriverFace<Road::kResolver>;
using Faces = ::testing::Types<SymbolsFace, ResolverFace, RuntimeFace>;
using DriverFaces = ::testing::Types<SymbolsFace, ResolverFace>;

struct NameOfFace {
  template <class Face>
  static std::string GetName(int) {
    if (!Face::kIsDriver) return "runtime";
    return std::is_same_v<Face, ResolverFace> ? "resolver" : "driver";
  }
};

}  // namespace cuheap::contract
