// Streams, events and kernels that declare what they touch, as short words for tests of clocks and
// races. REQUIRES: the machine of machine.h.
#pragma once

#include <initializer_list>
#include <string>
#include <vector>

#include "tests/sim/tests/machine.h"

namespace cuheap::sim {

class QueuedWork : public Machine {
 protected:
  void SetUp() override {
    Machine::SetUp();
    cuheap_sim_forget_races();
  }

  static CUstream NewStream(unsigned flags = CU_STREAM_NON_BLOCKING) {
    CUstream stream = nullptr;
    EXPECT_CUDA(cuStreamCreate(&stream, flags));
    return stream;
  }
  static CUevent Record(CUstream stream) {
    CUevent event = nullptr;
    EXPECT_CUDA(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
    EXPECT_CUDA(cuEventRecord(event, stream));
    return event;
  }
  static void Wait(CUstream stream, CUevent event) {
    EXPECT_CUDA(cuStreamWaitEvent(stream, event, 0));
  }
  static void After(CUstream later, CUstream earlier) { Wait(later, Record(earlier)); }

  static void Read(CUstream stream, CUdeviceptr base, std::size_t bytes = 512) {
    Launch(stream, "reader", base, bytes, 0);
  }
  static void Write(CUstream stream, CUdeviceptr base, std::size_t bytes = 512) {
    Launch(stream, "writer", base, bytes, 1);
  }

  static std::string LastRace() {
    std::string text(64 * 1024, '\0');
    cuheap_sim_last_race(text.data(), text.size());
    return text.substr(0, text.find('\0'));
  }

 private:
  static void Launch(CUstream stream, const char* name, CUdeviceptr base, std::size_t bytes,
                     int writes) {
    const cuheap_sim_range range{base, bytes, writes};
    EXPECT_EQ(0, cuheap_sim_launch(stream, name, &range, 1));
  }
};

}  // namespace cuheap::sim
