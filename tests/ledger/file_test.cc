// Where the file lives, how it comes home, and what happens when nothing is as it should be. The
// job never notices.
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <csignal>
#include <fstream>

#include "tests/ledger/fixture.h"

namespace cuheap::testing {
namespace {

using format::Storage;
namespace fs = std::filesystem;

// A file system in memory of a few pages, for as long as the test runs.
class SmallFileSystem {
 public:
  SmallFileSystem(const std::string& path, const char* size) : path_(path) {
    fs::create_directories(path);
    const std::string options = std::string("mode=0700,size=") + size;
    mounted_ = mount("tmpfs", path.c_str(), "tmpfs", 0, options.c_str()) == 0;
  }
  ~SmallFileSystem() {
    if (mounted_) umount2(path_.c_str(), MNT_DETACH);  // the ledger still maps its file
  }
  SmallFileSystem(const SmallFileSystem&) = delete;
  SmallFileSystem& operator=(const SmallFileSystem&) = delete;
  bool mounted() const { return mounted_; }

 private:
  std::string path_;
  bool mounted_ = false;
};

class FileTest : public LedgerTest {
 protected:
  fs::path Sibling(const std::string& prefix) {
    for (const fs::directory_entry& entry :
         fs::directory_iterator(fs::path(destination).parent_path()))
      if (entry.path().filename() != "a.cuheap" &&
          entry.path().filename().string().starts_with(prefix))
        return entry.path();
    return {};
  }
};

TEST_F(FileTest, WhileTheProcessRunsTheDestinationIsALinkIntoSharedMemory) {
  ASSERT_TRUE(Open());
  Born(0x1000, 512);
  ASSERT_TRUE(fs::is_symlink(destination));
  EXPECT_EQ(FileView(destination).Live().size(), 1u);
  struct stat status {};
  ASSERT_EQ(stat(destination.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600u);
}

TEST_F(FileTest, AClosedFileIsAtItsDestinationAndNowhereElse) {
  ASSERT_TRUE(Open());
  Born(0x1000, 512);
  ledger.Close();
  EXPECT_FALSE(fs::is_symlink(destination));
  const FileView view(destination);
  EXPECT_EQ(view.header().clean_close.load(), 1u);
  EXPECT_EQ(view.Of(format::InstantKind::kExit).size(), 1u);
  EXPECT_EQ(view.Live().size(), 1u);
  EXPECT_TRUE(fs::is_empty(shared));
  Born(0x2000, 512);
  Died(0x1000);
  ledger.InternString("no event");
  EXPECT_EQ(FileView(destination).Live().size(), 1u);
  EXPECT_EQ(FileView(destination).header().dropped.late_events.load(), 2u);
}

TEST_F(FileTest, NoDescriptorStaysOpen) {
  const auto descriptors = [] {
    return std::distance(fs::directory_iterator("/proc/self/fd"), fs::directory_iterator());
  };
  const auto before = descriptors();
  ASSERT_TRUE(Open());
  for (std::uint64_t i = 1; i < 20000; ++i) Born(i << 12, 512);
  EXPECT_EQ(descriptors(), before);
}

TEST_F(FileTest, TheFirstKeepsTheNameAndOthersGetPidAndStartInTheirs) {
  Ledger second;
  ASSERT_TRUE(Open());
  ASSERT_TRUE(second.Open(Options(), clock));
  const fs::path other = Sibling("a.");
  EXPECT_TRUE(other.filename().string().starts_with("a." + std::to_string(getpid()) + "-"))
      << other;
  EXPECT_EQ(other.extension(), ".cuheap");
  second.Close();
  ledger.Close();
  EXPECT_TRUE(FileView(destination).valid());
  EXPECT_EQ(FileView(other).header().destination, other.string());
}

TEST_F(FileTest, WithoutSharedMemoryTheFileIsMappedInPlace) {
  LedgerOptions options = Options();
  options.shared_folder = "/proc/no/such/folder";
  ASSERT_TRUE(Open(options));
  Born(0x1000, 512);
  EXPECT_EQ(FileView(destination).header().storage, Storage::kInPlace);
  EXPECT_EQ(FileView(destination).Live().size(), 1u);
  ledger.Close();
  EXPECT_EQ(FileView(destination).header().clean_close.load(), 1u);
}

TEST_F(FileTest, AFolderThatOthersCanWriteIsNotTrusted) {
  fs::create_directories(shared);
  ASSERT_EQ(chown(shared.c_str(), 12345, 12345), 0);
  ASSERT_TRUE(Open());
  EXPECT_EQ(FileView(destination).header().storage, Storage::kInPlace);
}

TEST_F(FileTest, WithNoPlaceForTheDestinationTheFileStaysInSharedMemory) {
  std::ofstream(folder.path / "file") << "not a folder";
  destination = folder.path / "file" / "a.cuheap";
  ASSERT_TRUE(Open());
  Born(0x1000, 512);
  ledger.Close();
  EXPECT_EQ(FileView(ledger.file_path()).Live().size(), 1u);
}

TEST_F(FileTest, WithNoPlaceAtAllTheStateIsPrivateAndWrittenAtMarks) {
  LedgerOptions options = Options();
  options.shared_folder = nullptr;
  // A limit on file sizes of nothing refuses every file that is to be mapped.
  const pid_t child = fork();
  if (child == 0) {
    const rlimit nothing{0, RLIM_INFINITY};
    setrlimit(RLIMIT_FSIZE, &nothing);
    if (!Open(options)) _exit(1);
    Born(0x1000, 512);
    const rlimit all{RLIM_INFINITY, RLIM_INFINITY};
    setrlimit(RLIMIT_FSIZE, &all);
    ledger.Mark("now");
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  ASSERT_TRUE(WIFEXITED(status)) << "killed by signal " << WTERMSIG(status);
  ASSERT_EQ(WEXITSTATUS(status), 0);
  EXPECT_EQ(FileView(destination).header().storage, Storage::kPrivate);
  EXPECT_EQ(FileView(destination).Live().size(), 1u);
}

// Every shared, writable mapping of a file is refused from now on, as some file systems do.
bool RefuseSharedMappings() {
#if defined(__x86_64__)
  constexpr auto Argument = [](int number) {
    return static_cast<std::uint32_t>(offsetof(seccomp_data, args) + sizeof(__u64) * number);
  };
  sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mmap, 0, 3),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, Argument(3)),
      BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, MAP_SHARED, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENODEV),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog program{std::size(filter), filter};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
#else
  return false;
#endif
}

TEST_F(FileTest, WhereMappingIsRefusedTheStateIsPrivateAndTheNameIsTakenAllTheSame) {
  fs::create_directories(fs::path(destination).parent_path());
  std::ofstream(destination) << "another's";
  const pid_t child = fork();
  if (child == 0) {
    if (!RefuseSharedMappings()) _exit(77);
    if (!Open()) _exit(1);
    if (Sibling("a.").empty()) _exit(2);
    Born(0x1000, 512);
    ledger.Close();
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  ASSERT_TRUE(WIFEXITED(status));
  if (WEXITSTATUS(status) == 77) GTEST_SKIP() << "no seccomp here";
  ASSERT_EQ(WEXITSTATUS(status), 0);
  const FileView view(Sibling("a."));
  EXPECT_EQ(view.header().storage, Storage::kPrivate);
  EXPECT_EQ(view.header().clean_close.load(), 1u);
  EXPECT_EQ(view.Live().size(), 1u);
  EXPECT_EQ(fs::file_size(destination), 9u) << "the other's file is as it was";
}

TEST_F(FileTest, WithNoPlaceAtAllNothingIsRecordedAndNothingBreaks) {
  std::ofstream(folder.path / "file") << "not a folder";
  destination = folder.path / "file" / "a.cuheap";
  LedgerOptions options = Options();
  options.shared_folder = nullptr;
  EXPECT_FALSE(Open(options));
  EXPECT_EQ(Born(0x1000, 512), RecordId::kNone);
}

TEST_F(FileTest, ATooSmallSharedMemoryMeansInPlace) {
  const SmallFileSystem small(shared, "4k");
  if (!small.mounted()) GTEST_SKIP() << "may not mount a small tmpfs here";
  std::ofstream(fs::path(shared) / "full") << std::string(4096, 'x');
  ASSERT_TRUE(Open());
  EXPECT_EQ(FileView(destination).header().storage, Storage::kInPlace);
}

TEST_F(FileTest, AFileThatTookThePlaceOfTheLinkIsKept) {
  ASSERT_TRUE(Open());
  Born(0x1000, 512);
  fs::remove(destination);
  std::ofstream(destination) << "another's";
  ledger.Close();
  EXPECT_EQ(fs::file_size(destination), 9u);
  EXPECT_EQ(FileView(ledger.file_path()).Live().size(), 1u);
}

TEST_F(FileTest, AFullDiskDropsBirthsAndCountsThem) {
  const SmallFileSystem small(shared, "1m");
  if (!small.mounted()) GTEST_SKIP() << "may not mount a small tmpfs here";
  ASSERT_TRUE(Open());
  for (std::uint64_t i = 1; i <= 50000; ++i) Born(i << 12, 512);
  const FileView view = View();
  EXPECT_GT(view.header().dropped.blocks.load(), 0u);
  EXPECT_EQ(view.Live().size() + view.header().dropped.blocks.load(), 50000u);
  EXPECT_TRUE(Died(0x1000).known) << "what is in the file goes on";
  ledger.Close();
  EXPECT_EQ(FileView(destination).Live().size(), view.Live().size() - 1);
}

TEST_F(FileTest, TheLimitDropsBirthsAndCountsThem) {
  LedgerOptions options = Options();
  options.limit = 2_MiB;
  ASSERT_TRUE(Open(options));
  for (std::uint64_t i = 1; i <= 50000; ++i) Born(i << 12, 512);
  EXPECT_LE(View().size(), (2_MiB).count());
  EXPECT_EQ(View().Live().size() + View().header().dropped.blocks.load(), 50000u);
}

TEST_F(FileTest, AForkedChildTouchesNothing) {
  ASSERT_TRUE(Open());
  Born(0x1000, 512);
  const pid_t child = fork();
  if (child == 0) {
    Born(0x2000, 512);
    Died(0x1000);
    ledger.Tick(format::Signal::k_program);
    ledger.Mark("child");
    ledger.Close();
    _exit(ledger.is_open() ? 1 : 0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), 0);
  EXPECT_TRUE(fs::is_symlink(destination));
  EXPECT_EQ(View().Live().size(), 1u);
  EXPECT_EQ(ledger.steps(), 0u);
}

TEST_F(FileTest, ACheckpointLeavesTheLinkAndStandsBesideIt) {
  ASSERT_TRUE(Open());
  Born(0x1000, 512);
  ledger.Checkpoint();
  EXPECT_TRUE(fs::is_symlink(destination));
  EXPECT_EQ(FileView(destination + ".checkpoint").Live().size(), 1u);
}

TEST_F(FileTest, AbandonCutsEvenThePointersThatWereGivenOut) {
  ASSERT_TRUE(Open());
  format::DoorCounters* doors = ledger.doors();
  const pid_t child = fork();
  if (child == 0) {
    ledger.Abandon();
    doors->driver_calls.fetch_add(1);
    _exit(ledger.is_open() || ledger.doors() != nullptr ? 1 : 0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), 0);
  EXPECT_EQ(doors->driver_calls.load(), 0u);
}

TEST(UnopenedLedgerTest, BeforeOpenEveryCallDoesNothing) {
  Ledger ledger;
  EXPECT_EQ(ledger.Born({}), RecordId::kNone);
  EXPECT_FALSE(ledger.Died(format::Heap::k_torch, Address(1)).known);
  EXPECT_FALSE(ledger.Tick(format::Signal::k_program));
  EXPECT_EQ(ledger.InternString("x"), 0u);
  ledger.Mark("x");
  ledger.Close();
  EXPECT_EQ(ledger.doors(), nullptr);
}

}  // namespace
}  // namespace cuheap::testing
