// The laws of ledger.h against a naive model, after every one of many random operations.
#include <random>

#include "tests/base/seeds.h"
#include "tests/ledger/fixture.h"

namespace cuheap::testing {
namespace {

using format::Heap;
using format::InstantKind;

constexpr int kDevices = 2;

struct Key {
  Heap heap;
  std::uint64_t address;
  auto operator<=>(const Key&) const = default;
};
struct ModelBlock {
  std::uint64_t bytes;
  int device;
  SiteId site;
  friend bool operator==(const ModelBlock&, const ModelBlock&) = default;
};
using LiveSet = std::map<Key, ModelBlock>;

bool IsSegment(std::uint8_t flags) {
  return (flags & (format::kServedAsSegment | format::kExpectSegment)) != 0;
}

LiveSet SetOf(const std::vector<Block>& blocks) {
  LiveSet set;
  for (const Block& block : blocks)
    set[{block.heap, block.address}] = {block.bytes, block.device, SiteId(block.site)};
  return set;
}

std::uint64_t LiveBytes(const std::vector<Block>& blocks, int device) {
  std::uint64_t sum = 0;
  for (const Block& block : blocks)
    if (block.device == device && block.heap != Heap::k_pinned && !IsSegment(block.flags))
      sum += block.bytes;
  return sum;
}

class ModelTest : public LedgerTest, public ::testing::WithParamInterface<unsigned> {
 protected:
  void SetUp() override {
    ASSERT_TRUE(Open());
    for (std::uint64_t i = 0; i < 5; ++i)
      sites_.push_back(ledger.InternSite(Heap::k_torch, 0, 0, 0, std::vector{i}));
    ledger.Tick(format::Signal::k_program);  // so that the byte clock never leads
  }

  std::uint64_t Random(std::uint64_t below) { return random_() % below; }
  Key SomeKey() {
    constexpr Heap kHeaps[] = {Heap::k_torch, Heap::k_driver, Heap::k_pinned};
    return {kHeaps[Random(3)], (1 + Random(60)) << 12};
  }

  void Toggle(const Key& key) {
    if (live_.count(key) != 0) return Kill(key);
    const ModelBlock block{512 * (1 + Random(100)), static_cast<int>(Random(kDevices)),
                           sites_[Random(sites_.size())]};
    const bool expected = key.heap == Heap::k_driver && Random(4) == 0;
    Born(key.address, block.bytes, key.heap, block.device,
         static_cast<std::uint8_t>(expected ? format::kExpectSegment : 0), block.site);
    live_[key] = block;
  }
  void Kill(const Key& key) {
    EXPECT_TRUE(Died(key.address, key.heap).known);
    live_.erase(key);
  }
  // Deaths and births of others lie between a free and the news that it failed.
  void FailToFree(const Key& key) {
    if (live_.count(key) == 0 || key.heap == Heap::k_pinned) return;
    Died(key.address, key.heap);
    const Key other{Heap::k_pinned, key.address};
    Toggle(other);
    ledger.Undo(key.heap, Address(key.address));
  }
  void Operate() {
    const Key key = SomeKey();
    const std::uint64_t what = Random(100);
    if (what < 80) {
      Toggle(key);
    } else if (what < 88) {
      ledger.Tick(format::Signal::k_program);
    } else if (what < 92) {
      FailToFree(key);
    } else if (what < 94) {
      ledger.ServeAsSegment(Heap::k_driver, Address(key.address), Heap::k_torch);
    } else if (what < 95) {
      ledger.Mark("mark");
    } else if (what < 96) {
      ledger.OutOfMemory(DeviceId(0), 1_GiB);
    } else if (what < 98) {
      ledger.UsedSample(DeviceId(1), Bytes(Random(1000)), 1_GiB);
    } else {
      EXPECT_EQ(Died(0x999000).known, false);
    }
  }

  void CheckInstants(const FileView& view) {
    for (const Instant& instant : view.instants()) {
      const std::vector<Block> then = view.LiveAt(instant.time);
      // An instant that was not there before is of now.
      const auto [known, is_new] = at_.try_emplace(instant.time, live_);
      ASSERT_EQ(SetOf(then), known->second) << "at " << instant.time;
      for (int device = 0; device < kDevices; ++device)
        ASSERT_EQ(instant.live[device], LiveBytes(then, device)) << "at " << instant.time;
      if (instant.kind == InstantKind::kPeak) {
        ASSERT_EQ(view.header().devices[instant.device].peak_time.load(), instant.time);
        ASSERT_EQ(view.header().devices[instant.device].peak_live_bytes.load(),
                  instant.live[instant.device]);
      }
    }
  }
  void CheckNow(const FileView& view) {
    const std::vector<Block> now = view.Live();
    ASSERT_EQ(SetOf(now), live_);
    std::map<std::uint32_t, std::uint64_t> by_site;
    std::map<std::uint64_t, int> births;
    for (const Block& block : now) by_site[block.site] += block.bytes;
    ASSERT_EQ(view.site_live(), by_site) << "sum over sites = sum over live records";
    for (const Block& block : view.blocks()) ASSERT_EQ(++births[block.birth], 1);
    for (int device = 0; device < kDevices; ++device) {
      const format::DeviceHeader& header = view.header().devices[device];
      ASSERT_EQ(header.live_bytes.load(), LiveBytes(now, device));
      ASSERT_GE(header.peak_live_bytes.load(), header.live_bytes.load());
    }
  }

  std::mt19937 random_{GetParam()};
  std::vector<SiteId> sites_;
  LiveSet live_;
  std::map<std::uint64_t, LiveSet> at_;
};

TEST_P(ModelTest, TheFileSaysWhatTheModelSaysAfterEveryOperation) {
  CheckInstants(View());
  for (int i = 0; i < 1000; ++i) {
    SCOPED_TRACE("seed " + std::to_string(GetParam()) + ", operation " + std::to_string(i));
    Operate();
    const FileView view = View();
    CheckInstants(view);
    CheckNow(view);
    if (HasFatalFailure()) return;
  }
}

TEST_P(ModelTest, NoRecordIsKeptThatNoInstantNeeds) {
  for (int i = 0; i < 20000; ++i) Operate();
  while (!live_.empty()) Kill(live_.begin()->first);
  for (int i = 0; i < 20000; ++i) Died(0x999000);  // events that sweep
  const FileView view = View();
  for (const Block& block : view.blocks()) {
    bool needed = false;
    for (const Instant& instant : view.instants())
      needed |= block.birth <= instant.time && instant.time < block.free_time;
    EXPECT_TRUE(needed) << "born " << block.birth << ", freed " << block.free_time;
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, ModelTest, ::testing::ValuesIn(Seeds({1, 2, 4711})));

}  // namespace
}  // namespace cuheap::testing
