// The file after a SIGKILL at any moment: it opens, and it agrees with what each thread wrote down
// for itself.
#include "tests/ledger/storm.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <random>

#include "tests/ledger/fixture.h"

namespace cuheap::testing {
namespace {

constexpr int kKills = 200;

class Storm {
 public:
  Storm(const Folder& folder, int number)
      : destination_(folder.path / (std::to_string(number) + ".cuheap")),
        shared_(folder.path / "shared"),
        tally_path_(folder.path / (std::to_string(number) + ".tally")) {
    const int descriptor = open(tally_path_.c_str(), O_RDWR | O_CREAT | O_TRUNC, 0600);
    EXPECT_EQ(ftruncate(descriptor, sizeof(TallyPage)), 0);
    tally_ = static_cast<TallyPage*>(
        mmap(nullptr, sizeof(TallyPage), PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0));
    close(descriptor);
  }
  ~Storm() {
    munmap(tally_, sizeof(TallyPage));
    unlink(std::filesystem::read_symlink(destination_).c_str());
  }

  // Starts the program, waits until it storms, kills it `delay` later.
  void KillAfter(useconds_t delay) {
    int pipe_ends[2];
    ASSERT_EQ(pipe(pipe_ends), 0);
    const pid_t child = fork();
    if (child == 0) {
      dup2(pipe_ends[1], STDOUT_FILENO);
      execl(CUHEAP_STORM, CUHEAP_STORM, destination_.c_str(), shared_.c_str(), tally_path_.c_str(),
            nullptr);
      _exit(1);
    }
    close(pipe_ends[1]);
    char first = 0;
    ASSERT_EQ(read(pipe_ends[0], &first, 1), 1);
    usleep(delay);
    kill(child, SIGKILL);
    int status = 0;
    waitpid(child, &status, 0);
    close(pipe_ends[0]);
    ASSERT_TRUE(WIFSIGNALED(status)) << "the storm ended by itself";
  }

  void ExpectTheFileAgrees() const {
    const FileView view(destination_);
    ASSERT_TRUE(view.valid());
    EXPECT_EQ(view.header().clean_close.load(), 0u);
    EXPECT_EQ(view.header().dropped.blocks.load(), 0u);
    std::uint64_t live[kStormThreads] = {};
    for (const Block& block : view.Live()) ++live[StormThread(block.address)];
    for (int i = 0; i < kStormThreads; ++i) {
      const Tally& tally = tally_->threads[i];
      EXPECT_GE(live[i], tally.births_ended - tally.deaths_started) << "thread " << i;
      EXPECT_LE(live[i], tally.births_started - tally.deaths_ended) << "thread " << i;
    }
  }
  std::uint64_t births() const {
    std::uint64_t sum = 0;
    for (const Tally& tally : tally_->threads) sum += tally.births_ended;
    return sum;
  }
  int block_chunks() const { return FileView(destination_).count(format::ChunkType::kBlock); }

 private:
  std::filesystem::path destination_, shared_, tally_path_;
  TallyPage* tally_;
};

TEST(StormTest, EveryFileOfAKilledStormOpensAndAgreesWithTheThreadsOwnTally) {
  const Folder folder;
  std::mt19937 random(20);
  std::uint64_t births = 0;
  int grown = 0;
  for (int i = 0; i < kKills && !::testing::Test::HasFailure(); ++i) {
    SCOPED_TRACE("kill " + std::to_string(i));
    Storm storm(folder, i);
    storm.KillAfter(static_cast<useconds_t>(random() % 60000));
    storm.ExpectTheFileAgrees();
    births += storm.births();
    grown += storm.block_chunks() > 1;
  }
  EXPECT_GT(births, 1000u * kKills);
  EXPECT_GT(grown, kKills / 4) << "the kills must also meet files that grow";
}

}  // namespace
}  // namespace cuheap::testing
