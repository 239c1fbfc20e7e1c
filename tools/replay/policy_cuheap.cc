// The pool of this project (allocator/pool), the real one: with pages that move, with driver
// segments, and with pages that move only when memory is short.
#include <vector>

#include "allocator/pool/pool.h"
#include "tools/replay/held_blocks.h"
#include "tools/replay/policy.h"

namespace cuheap::replay {
namespace {

class CuheapPolicy final : public Policy {
 public:
  CuheapPolicy(Driver& driver, const pool::Options& options) { pool_.Start(&driver, options); }
  ~CuheapPolicy() override { pool_.Shutdown(); }
  CuheapPolicy(const CuheapPolicy&) = delete;
  CuheapPolicy& operator=(const CuheapPolicy&) = delete;

  bool Allocate(BlockNumber block, Bytes bytes, DeviceId device, StreamHandle stream) override {
    Address address{};
    if (!pool_.Allocate({.bytes = bytes, .device = device, .stream = stream}, &address).ok())
      return false;
    blocks_[block] = address;
    if (devices_.size() <= Value(device)) devices_.resize(Value(device) + std::size_t{1});
    devices_[Value(device)] = true;
    return true;
  }

  void Free(BlockNumber block) override { (void)pool_.Free(blocks_[block]); }

  void RecordUse(BlockNumber block, StreamHandle stream) override {
    (void)pool_.RecordUse(blocks_[block], stream);
  }

  Bytes reserved() const override {
    Bytes sum;
    for (std::size_t device = 0; device < devices_.size(); ++device)
      if (devices_[device]) sum += pool_.Reserved(DeviceId(static_cast<std::uint8_t>(device)));
    return sum;
  }

 private:
  mutable pool::Pool pool_;
  HeldBlocks<Address> blocks_;
  std::vector<bool> devices_;  // that were used
};

pool::Options Announced() {
  pool::Options options;
  options.identity = pool::StreamIdentity::kAnnounced;
  return options;
}

}  // namespace

std::unique_ptr<Policy> MakeCuheap(Driver& driver) {
  return std::make_unique<CuheapPolicy>(driver, Announced());
}

std::unique_ptr<Policy> MakeCuheapUnmoved(Driver& driver) {
  pool::Options options = Announced();
  options.slack_percent = 100;
  return std::make_unique<CuheapPolicy>(driver, options);
}

std::unique_ptr<Policy> MakeCuheapSegments(Driver& driver) {
  pool::Options options = Announced();
  options.virtual_memory = false;
  return std::make_unique<CuheapPolicy>(driver, options);
}

}  // namespace cuheap::replay
