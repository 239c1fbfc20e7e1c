// ledger_storm DESTINATION SHARED_FOLDER TALLY: four threads allocate and free at full speed until
// the process is killed.
#include "tests/ledger/storm.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <random>
#include <thread>
#include <vector>

#include "allocator/ledger/ledger.h"

namespace {

using cuheap::testing::StormAddress;
using cuheap::testing::Tally;
using cuheap::testing::TallyPage;

constinit cuheap::Ledger ledger;

void Storm(int thread, Tally& tally) {
  std::mt19937_64 random(static_cast<unsigned>(thread) * 7919u + static_cast<unsigned>(getpid()));
  std::vector<std::uint64_t> live;
  for (std::uint64_t number = 1;; ++number) {
    if (live.size() < 30000 && random() % 100 < 60) {
      cuheap::Birth birth;
      birth.address = cuheap::Address(StormAddress(thread + 1, number));
      birth.block_bytes = cuheap::Bytes(512 * (1 + random() % 64));
      birth.heap = cuheap::format::Heap::k_torch;
      const std::uint64_t frames[3] = {1, random() % 50, static_cast<std::uint64_t>(thread)};
      birth.site = ledger.InternSite(birth.heap, 0, 0, 0, frames);
      ++tally.births_started;
      ledger.Born(birth);
      ++tally.births_ended;
      live.push_back(static_cast<std::uint64_t>(birth.address));
    } else if (!live.empty()) {
      std::swap(live[random() % live.size()], live.back());
      ++tally.deaths_started;
      ledger.Died(cuheap::format::Heap::k_torch, cuheap::Address(live.back()));
      ++tally.deaths_ended;
      live.pop_back();
    }
    if (number % 1000 == 0) ledger.Tick(cuheap::format::Signal::k_program);
  }
}

}  // namespace

int main(int, char** arguments) {
  const int descriptor = open(arguments[3], O_RDWR | O_CLOEXEC);
  void* page = mmap(nullptr, sizeof(TallyPage), PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  if (page == MAP_FAILED) return 1;
  cuheap::LedgerOptions options;
  options.destination = arguments[1];
  options.shared_folder = arguments[2];
  if (!ledger.Open(options, cuheap::SystemClock())) return 1;
  std::vector<std::thread> threads;
  for (int i = 0; i < cuheap::testing::kStormThreads; ++i)
    threads.emplace_back(Storm, i, std::ref(static_cast<TallyPage*>(page)->threads[i]));
  std::puts("storming");
  std::fflush(stdout);
  for (std::thread& thread : threads) thread.join();
}
