// Best fit (allocator/core/best_fit.h) in steps of 512 bytes, each stream for itself, in segments
// that are as large as what was asked for, in steps of 2 MiB. Any rest is cut off. Out of memory:
// idle segments go back and the driver is asked once more.
#include <algorithm>
#include <map>
#include <vector>

#include "allocator/core/best_fit.h"
#include "tools/replay/held_blocks.h"
#include "tools/replay/pending_frees.h"
#include "tools/replay/policy.h"

namespace cuheap::replay {
namespace {

constexpr Bytes kStep = 512_B;
constexpr Bytes kSegmentStep = 2_MiB;

class BestFitPolicy final : public Policy {
 public:
  explicit BestFitPolicy(Driver& driver) : driver_(driver), pending_(driver) {}
  ~BestFitPolicy() override {
    for (auto& [place, heap] : heaps_) heap.Release();
  }
  BestFitPolicy(const BestFitPolicy&) = delete;
  BestFitPolicy& operator=(const BestFitPolicy&) = delete;

  bool Allocate(BlockNumber block, Bytes bytes, DeviceId device, StreamHandle stream) override {
    Drain(device, PendingFrees::Patience::kPoll);
    const Bytes size = bytes.RoundedUpTo(kStep);
    core::BestFit& heap = heaps_[{device, stream}];
    core::BlockId found = heap.Allocate(size);
    if (!found && (AddSegment(device, &heap, size) || ReleaseAndAdd(device, &heap, size)))
      found = heap.Allocate(size);
    if (!found) return false;
    blocks_[block] = {device, stream, found, {}};
    return true;
  }

  void Free(BlockNumber block) override {
    Held& held = blocks_[block];
    core::BestFit& heap = heaps_[{held.device, held.stream}];
    if (held.users.empty()) {
      heap.Free(held.place);
      return;
    }
    heap.SetWaiting(held.place);
    pending_.Add(block, held.device, held.users);
  }

  void RecordUse(BlockNumber block, StreamHandle stream) override {
    Held& held = blocks_[block];
    AddUser(held.stream, stream, &held.users);
  }

  Bytes reserved() const override { return reserved_; }

 private:
  struct Held {
    DeviceId device{};
    StreamHandle stream{};
    core::BlockId place;
    std::vector<StreamHandle> users;
  };

  void Drain(DeviceId device, PendingFrees::Patience patience) {
    pending_.Drain(device, patience, [this](BlockNumber block) {
      Held& held = blocks_[block];
      heaps_[{held.device, held.stream}].Free(held.place);
    });
  }

  bool AddSegment(DeviceId device, core::BestFit* heap, Bytes size) {
    const Bytes bytes = size.RoundedUpTo(kSegmentStep);
    Address address{};
    if (!driver_.Allocate(device, bytes, &address).ok()) return false;
    if (!heap->AddSegment(Value(address), bytes, core::BlockState::kFree)) {
      (void)driver_.Free(device, address);
      return false;
    }
    reserved_ += bytes;
    return true;
  }

  bool ReleaseAndAdd(DeviceId device, core::BestFit* heap, Bytes size) {
    Drain(device, PendingFrees::Patience::kWait);
    for (auto& [place, other] : heaps_)
      if (place.first == device) ReleaseIdle(device, &other);
    // What was waiting may have been what was looked for.
    return bool(heap->Fitting(size)) || AddSegment(device, heap, size);
  }

  void ReleaseIdle(DeviceId device, core::BestFit* heap) {
    std::vector<core::SegmentId> idle;
    heap->ForEachSegment([&](core::SegmentId segment) {
      if ((*heap)[segment].held_blocks == 0) idle.push_back(segment);
    });
    for (const core::SegmentId segment : idle) {
      const Address address{(*heap)[segment].begin};
      const Bytes bytes = (*heap)[segment].bytes;
      if (!driver_.Free(device, address).ok() || !heap->RemoveSegment(segment)) continue;
      reserved_ -= bytes;
    }
  }

  Driver& driver_;
  PendingFrees pending_;
  Bytes reserved_;
  std::map<std::pair<DeviceId, StreamHandle>, core::BestFit> heaps_;
  HeldBlocks<Held> blocks_;
};

}  // namespace

std::unique_ptr<Policy> MakeBestFit(Driver& driver) {
  return std::make_unique<BestFitPolicy>(driver);
}

}  // namespace cuheap::replay
