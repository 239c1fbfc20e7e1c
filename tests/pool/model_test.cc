// Random instructions on several streams beside a naive model: which blocks live where. The laws
// hold after each step, and at the end all is given back.
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <vector>

#include "tests/base/seeds.h"
#include "tests/pool/fixture.h"

namespace cuheap::pool {
namespace {

class Model {
 public:
  Model(std::uint32_t seed, const AccountingRules& rules, const Options& options)
      : random_(seed), t_(rules, options) {}
  ~Model() {
    while (!live_.empty()) Free();
  }

  void Run(int steps) {
    for (int i = 0; i < steps && !::testing::Test::HasFailure(); ++i) {
      Step();
      ASSERT_STREQ(t_.pool->FirstBrokenLaw(), nullptr) << "step " << i;
      ASSERT_LE(t_.accounts.used(kDevice), kCapacity);
    }
    const Statistics figures = t_.Figures();
    EXPECT_EQ(figures.blocks, live_.size());
    EXPECT_EQ(figures.live, LiveBytes());
  }

  static constexpr Bytes kCapacity = 128_MiB;

 private:
  struct Block {
    std::uint64_t end;
    StreamHandle stream;
  };

  std::uint64_t Draw(std::uint64_t below) { return random_() % below; }
  StreamHandle DrawStream() { return StreamHandle(100 + Draw(3)); }

  void Step() {
    switch (Draw(20)) {
      case 0:
        return Empty();
      case 1:
        return FreeElsewhere();
      case 2:
        return RecordUse();
      case 3:
        return FreeBad();
      default:
        return Draw(2) == 0 ? Allocate() : Free();
    }
  }

  void Allocate() {
    const std::uint64_t bytes = 1 + Draw(std::uint64_t{1} << (1 + Draw(25)));
    const std::uint64_t alignment = Draw(8) == 0 ? std::uint64_t{1} << Draw(17) : 512;
    const StreamHandle stream = DrawStream();
    Address address{};
    const Status status = t_.pool->Allocate(
        {.bytes = Bytes(bytes), .alignment = Bytes(alignment), .stream = stream}, &address);
    if (status.code == Code::kOutOfMemory) {
      EXPECT_GT(LiveBytes() + Bytes(bytes), Bytes(kCapacity.count() * 3 / 4))
          << "refused " << bytes << " bytes";
      return;
    }
    ASSERT_TRUE(status.ok());
    EXPECT_EQ(Value(address) % alignment, 0u);
    DeviceId device{};
    Bytes usable;
    ASSERT_TRUE(t_.pool->Look(address, &device, &usable).ok());
    ASSERT_GE(usable, Bytes(bytes));
    const std::uint64_t begin = Value(address);
    const auto after = live_.lower_bound(begin);
    if (after != live_.end()) {
      EXPECT_GE(after->first, begin + usable.count());
    }
    if (after != live_.begin()) {
      EXPECT_LE(std::prev(after)->second.end, begin);
    }
    live_[begin] = {begin + usable.count(), stream};
  }

  std::map<std::uint64_t, Block>::iterator Any() {
    return std::next(live_.begin(), static_cast<std::ptrdiff_t>(Draw(live_.size())));
  }

  void Free() {
    if (live_.empty()) return;
    const auto block = Any();
    EXPECT_TRUE(t_.pool->Free(Address(block->first)).ok());
    live_.erase(block);
  }

  void FreeElsewhere() {
    if (live_.empty()) return;
    const auto block = Any();
    EXPECT_TRUE(t_.pool->Free(Address(block->first), DrawStream()).ok());
    live_.erase(block);
  }

  void RecordUse() {
    if (live_.empty()) return;
    EXPECT_TRUE(t_.pool->RecordUse(Address(Any()->first), DrawStream()).ok());
  }

  void FreeBad() {
    if (live_.empty()) return;
    const std::uint64_t inside = Any()->first + 1 + Draw(500);
    EXPECT_EQ(t_.pool->Free(Address(inside)).code, Code::kForeign);
  }

  void Empty() {
    const EmptyResult result = t_.Empty();
    const Statistics figures = t_.Figures();
    EXPECT_EQ(figures.idle, Bytes());
    EXPECT_EQ(figures.cached, Bytes());
    EXPECT_EQ(figures.waiting, Bytes());
    EXPECT_EQ(result.stayed, figures.holes);
  }

  Bytes LiveBytes() const {
    Bytes sum;
    for (const auto& [begin, block] : live_) sum += Bytes(block.end - begin);
    return sum;
  }

  std::mt19937_64 random_;
  PoolOnAccounts t_;
  std::map<std::uint64_t, Block> live_;
};

void RunModels(const Options& options) {
  for (const std::uint32_t seed : testing::Seeds({1, 2, 3, 4, 5, 6, 7, 8})) {
    SCOPED_TRACE(seed);
    Model model(seed, {.capacity = Model::kCapacity}, options);
    model.Run(1500);
    if (::testing::Test::HasFailure()) return;
  }
}

TEST(PoolModel, RandomInstructionsKeepTheLaws) { RunModels({}); }

TEST(PoolModel, RandomInstructionsKeepTheLawsWithoutVirtualMemory) {
  Options options;
  options.virtual_memory = false;
  RunModels(options);
}

TEST(PoolModel, RandomInstructionsKeepTheLawsUnderALimit) {
  Options options;
  options.limit = Bytes(Model::kCapacity.count() * 9 / 10);
  options.identity = StreamIdentity::kAnnounced;
  RunModels(options);
}

}  // namespace
}  // namespace cuheap::pool
