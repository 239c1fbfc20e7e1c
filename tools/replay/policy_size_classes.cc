// Size classes alone (allocator/core/size_classes.h, 8 steps a doubling without end): a block
// serves its class for as long as its segment lives. Classes up to 1 MiB share segments of 2 MiB,
// each larger block is a segment of its own. Out of memory: segments without a live block go back
// and the driver is asked once more.
#include <algorithm>
#include <compare>
#include <map>
#include <set>
#include <vector>

#include "allocator/core/size_classes.h"
#include "tools/replay/held_blocks.h"
#include "tools/replay/pending_frees.h"
#include "tools/replay/policy.h"

namespace cuheap::replay {
namespace {

constexpr core::SizeClasses kClasses({.largest = OpStream::kMostBytes});
constexpr Bytes kShared = 1_MiB;
constexpr Bytes kSegment = 2_MiB;

struct List {
  DeviceId device{};
  StreamHandle stream{};
  core::SizeClass size_class{};
  friend auto operator<=>(const List&, const List&) = default;
};

struct Segment {
  Bytes bytes{};
  std::uint64_t held = 0;  // blocks that live or wait
};

struct Place {
  Address segment{};
  std::uint64_t offset = 0;
  friend auto operator<=>(const Place&, const Place&) = default;
};

class SizeClassPolicy final : public Policy {
 public:
  explicit SizeClassPolicy(Driver& driver) : driver_(driver), pending_(driver) {}
  SizeClassPolicy(const SizeClassPolicy&) = delete;
  SizeClassPolicy& operator=(const SizeClassPolicy&) = delete;

  bool Allocate(BlockNumber block, Bytes bytes, DeviceId device, StreamHandle stream) override {
    Drain(device, PendingFrees::Patience::kPoll);
    const List list{device, stream, kClasses.Of(bytes)};
    std::set<Place>& free = free_[list];
    if (free.empty() && !AddSegment(list)) {
      Drain(device, PendingFrees::Patience::kWait);
      ReleaseIdle(device);
      if (free.empty() && !AddSegment(list)) return false;
    }
    const Place place = *free.begin();
    free.erase(free.begin());
    ++segments_[{device, place.segment}].held;
    blocks_[block] = {list, place, {}};
    return true;
  }

  void Free(BlockNumber block) override {
    const Held& held = blocks_[block];
    if (held.users.empty()) {
      GiveBack(block);
    } else {
      pending_.Add(block, held.list.device, held.users);
    }
  }

  void RecordUse(BlockNumber block, StreamHandle stream) override {
    Held& held = blocks_[block];
    AddUser(held.list.stream, stream, &held.users);
  }

  Bytes reserved() const override { return reserved_; }

 private:
  struct Held {
    List list;
    Place place;
    std::vector<StreamHandle> users;
  };

  void Drain(DeviceId device, PendingFrees::Patience patience) {
    pending_.Drain(device, patience, [this](BlockNumber block) { GiveBack(block); });
  }

  void GiveBack(BlockNumber block) {
    const Held& held = blocks_[block];
    free_[held.list].insert(held.place);
    --segments_[{held.list.device, held.place.segment}].held;
  }

  bool AddSegment(const List& list) {
    const Bytes size = kClasses.SizeOf(list.size_class);
    const Bytes bytes = size <= kShared ? kSegment : size.RoundedUpTo(kSegment);
    Address address{};
    if (!driver_.Allocate(list.device, bytes, &address).ok()) return false;
    reserved_ += bytes;
    segments_[{list.device, address}] = {bytes};
    const std::uint64_t blocks = size <= kShared ? bytes.count() / size.count() : 1;
    for (std::uint64_t i = 0; i < blocks; ++i) free_[list].insert({address, i * size.count()});
    return true;
  }

  bool IsIdle(DeviceId device, Address segment) { return segments_[{device, segment}].held == 0; }

  void ReleaseIdle(DeviceId device) {
    for (auto& [list, places] : free_) {
      if (list.device == device)
        std::erase_if(places, [&](const Place& place) { return IsIdle(device, place.segment); });
    }
    std::erase_if(segments_, [&](const auto& entry) {
      const auto& [place, segment] = entry;
      if (place.first != device || segment.held != 0) return false;
      (void)driver_.Free(device, place.second);
      reserved_ -= segment.bytes;
      return true;
    });
  }

  Driver& driver_;
  PendingFrees pending_;
  Bytes reserved_;
  std::map<List, std::set<Place>> free_;  // the lowest first
  std::map<std::pair<DeviceId, Address>, Segment> segments_;
  HeldBlocks<Held> blocks_;
};

}  // namespace

std::unique_ptr<Policy> MakeSizeClasses(Driver& driver) {
  return std::make_unique<SizeClassPolicy>(driver);
}

}  // namespace cuheap::replay
