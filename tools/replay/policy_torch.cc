// The rules of PyTorch's native caching allocator with its default settings, as its source
// describes them: sizes in steps of 512 bytes; blocks up to 1 MiB come from segments of 2 MiB,
// larger ones below 10 MiB from segments of 20 MiB, the others from segments of their size in steps
// of 2 MiB; each stream has its own blocks; best fit; a rest is cut off when it is more than 1 MiB
// (512 bytes at least among the small ones); free neighbours merge. Out of memory: idle segments go
// back and the driver is asked once more.
#include <algorithm>
#include <compare>
#include <map>
#include <vector>

#include "tools/replay/held_blocks.h"
#include "tools/replay/pending_frees.h"
#include "tools/replay/policy.h"

namespace cuheap::replay {
namespace {

constexpr Bytes kStep = 512_B;
constexpr Bytes kSmall = 1_MiB;
constexpr Bytes kSmallSegment = 2_MiB;
constexpr Bytes kMedium = 10_MiB;
constexpr Bytes kMediumSegment = 20_MiB;
constexpr Bytes kLargeStep = 2_MiB;

struct Pool {
  DeviceId device{};
  bool small = false;
  StreamHandle stream{};
  friend auto operator<=>(const Pool&, const Pool&) = default;
};

struct Piece {
  Pool pool;
  Address address{};
  Bytes bytes{};
  Piece* before = nullptr;  // of the same segment
  Piece* after = nullptr;
  bool held = false;  // by a block, or by a stream that is not past it
  std::vector<StreamHandle> users;
};

struct Fit {
  Pool pool;
  Bytes bytes{};
  Address address{};
  friend auto operator<=>(const Fit&, const Fit&) = default;
};

Bytes SegmentFor(Bytes size) {
  if (size <= kSmall) return kSmallSegment;
  return size < kMedium ? kMediumSegment : size.RoundedUpTo(kLargeStep);
}

class Torch final : public Policy {
 public:
  explicit Torch(Driver& driver) : driver_(driver), pending_(driver) {}
  Torch(const Torch&) = delete;
  Torch& operator=(const Torch&) = delete;

  bool Allocate(BlockNumber block, Bytes bytes, DeviceId device, StreamHandle stream) override {
    Drain(device, PendingFrees::Patience::kPoll);
    const Bytes size = bytes.RoundedUpTo(kStep);
    const Pool pool{device, size <= kSmall, stream};
    Piece* piece = TakeFree(pool, size);
    if (piece == nullptr) piece = NewSegment(pool, SegmentFor(size));
    if (piece == nullptr) {
      ReleaseCached(device);
      piece = NewSegment(pool, SegmentFor(size));
    }
    if (piece == nullptr) return false;
    CutRest(piece, size);
    piece->held = true;
    blocks_[block] = piece;
    return true;
  }

  void Free(BlockNumber block) override {
    Piece* piece = blocks_[block];
    if (piece->users.empty()) {
      GiveBack(block);
    } else {
      pending_.Add(block, piece->pool.device, piece->users);
    }
  }

  void RecordUse(BlockNumber block, StreamHandle stream) override {
    Piece* piece = blocks_[block];
    AddUser(piece->pool.stream, stream, &piece->users);
  }

  Bytes reserved() const override { return reserved_; }

 private:
  void Drain(DeviceId device, PendingFrees::Patience patience) {
    pending_.Drain(device, patience, [this](BlockNumber block) { GiveBack(block); });
  }

  Piece* TakeFree(const Pool& pool, Bytes size) {
    const auto found = free_.lower_bound({pool, size, Address(0)});
    if (found == free_.end() || found->first.pool != pool) return nullptr;
    Piece* piece = found->second;
    free_.erase(found);
    return piece;
  }

  Piece* NewSegment(const Pool& pool, Bytes bytes) {
    Address address{};
    if (!driver_.Allocate(pool.device, bytes, &address).ok()) return nullptr;
    reserved_ += bytes;
    return Put({.pool = pool, .address = address, .bytes = bytes, .users = {}});
  }

  Piece* Put(Piece piece) {
    return &pieces_.insert_or_assign({piece.pool.device, piece.address}, piece).first->second;
  }

  void CutRest(Piece* piece, Bytes size) {
    const Bytes rest = piece->bytes - size;
    const bool cut = piece->pool.small ? rest >= kStep : rest > kSmall;
    if (!cut) return;
    Piece* after = Put({.pool = piece->pool,
                        .address = Address(Value(piece->address) + size.count()),
                        .bytes = rest,
                        .before = piece,
                        .after = piece->after,
                        .users = {}});
    if (after->after != nullptr) after->after->before = after;
    piece->after = after;
    piece->bytes = size;
    free_[FitOf(*after)] = after;
  }

  void GiveBack(BlockNumber block) {
    Piece* piece = blocks_[block];
    piece->held = false;
    piece->users.clear();
    if (piece->before != nullptr && !piece->before->held) {
      piece = piece->before;
      free_.erase(FitOf(*piece));
      AbsorbAfter(piece);
    }
    if (piece->after != nullptr && !piece->after->held) {
      free_.erase(FitOf(*piece->after));
      AbsorbAfter(piece);
    }
    free_[FitOf(*piece)] = piece;
  }

  void AbsorbAfter(Piece* piece) {
    Piece* gone = piece->after;
    piece->bytes += gone->bytes;
    piece->after = gone->after;
    if (piece->after != nullptr) piece->after->before = piece;
    pieces_.erase({gone->pool.device, gone->address});
  }

  void ReleaseCached(DeviceId device) {
    Drain(device, PendingFrees::Patience::kWait);
    for (auto it = free_.lower_bound({{device}, {}, {}});
         it != free_.end() && it->first.pool.device == device;) {
      const Piece* piece = it->second;
      const bool whole = piece->before == nullptr && piece->after == nullptr;
      if (!whole || !driver_.Free(device, piece->address).ok()) {
        ++it;
        continue;
      }
      reserved_ -= piece->bytes;
      it = free_.erase(it);
      pieces_.erase({device, piece->address});
    }
  }

  static Fit FitOf(const Piece& piece) { return {piece.pool, piece.bytes, piece.address}; }

  Driver& driver_;
  PendingFrees pending_;
  Bytes reserved_;
  std::map<std::pair<DeviceId, Address>, Piece> pieces_;
  std::map<Fit, Piece*> free_;
  HeldBlocks<Piece*> blocks_;
};

}  // namespace

std::unique_ptr<Policy> MakeTorch(Driver& driver) { return std::make_unique<Torch>(driver); }

}  // namespace cuheap::replay
