// Many threads, and what may happen to them meanwhile: the end of the file, a fork, a checkpoint.
#include <sys/wait.h>

#include <atomic>
#include <thread>

#include "tests/ledger/fixture.h"

namespace cuheap::testing {
namespace {

using format::Heap;

constexpr int kThreads = 4;

class ThreadsTest : public LedgerTest {
 protected:
  void SetUp() override {
    ASSERT_TRUE(ledger.Open(Options(), SystemClock()));
    for (int i = 0; i < kThreads; ++i) threads_.emplace_back(&ThreadsTest::Work, this, i);
  }
  void TearDown() override { Join(); }
  void Join() {
    stop_ = true;
    for (std::thread& thread : threads_)
      if (thread.joinable()) thread.join();
  }

  // Pairs of births of which one stays, until told to stop.
  void Work(int thread) {
    Birth birth;
    birth.heap = Heap::k_torch;
    birth.block_bytes = 512_B;
    for (std::uint64_t number = 1; !stop_; ++number) {
      birth.address = Address((static_cast<std::uint64_t>(thread + 1) << 44) | (number << 9));
      birth.site = ledger.InternSite(birth.heap, 0, 0, 0, std::vector{number % 100});
      const bool recorded = ledger.Born(birth) != RecordId::kNone;
      if (!recorded) ++late_;
      if (number % 16 != 0 || number > 100000) {
        const bool known = ledger.Died(birth.heap, birth.address).known;
        if (known) continue;
        ++late_;
      }
      if (recorded) ++stayed_;
    }
  }

  std::vector<std::thread> threads_;
  std::atomic<bool> stop_{false};
  std::atomic<std::uint64_t> stayed_{0}, late_{0};
};

TEST_F(ThreadsTest, WhatWasRecordedBeforeTheEndIsInTheFileAndTheRestIsCounted) {
  while (stayed_ < 1000) std::this_thread::yield();
  ledger.Close();
  while (late_ < 1000) std::this_thread::yield();
  Join();
  const FileView view(destination);
  EXPECT_EQ(view.Live().size(), stayed_.load());
  EXPECT_EQ(view.header().dropped.blocks.load(), 0u);
  EXPECT_GT(view.header().dropped.late_events.load(), 0u);
  EXPECT_LE(view.header().dropped.late_events.load(), late_.load());
}

TEST_F(ThreadsTest, ACheckpointIsOneMomentOfAFileThatGoesOn) {
  for (int i = 0; i < 20; ++i) {
    ledger.Tick(format::Signal::k_program);
    ledger.Checkpoint();
    const FileView view(destination + ".checkpoint");
    ASSERT_TRUE(view.valid());
    for (const Instant& instant : view.instants()) {
      std::uint64_t bytes = 0;
      for (const Block& block : view.LiveAt(instant.time)) bytes += block.bytes;
      ASSERT_EQ(bytes, instant.live[0]);
    }
  }
}

TEST_F(ThreadsTest, AChildForkedWhileALockIsHeldDoesNotWait) {
  for (int i = 0; i < 100; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      alarm(20);  // a child that waits for the lock is killed
      Birth birth;
      birth.address = Address(0x1000);
      const bool nothing = ledger.Born(birth) == RecordId::kNone;
      ledger.Close();
      _exit(nothing ? 0 : 1);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << "fork " << i;
  }
  Join();
  EXPECT_EQ(View().Live().size(), stayed_.load());
}

}  // namespace
}  // namespace cuheap::testing
