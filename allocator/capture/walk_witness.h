// Takes down what a walk over native frames rests on (walk_evidence.h), while it goes on. For one
// walk, on one thread.
#pragma once

#include <cstdint>

#include "allocator/capture/walk_evidence.h"

namespace cuheap::capture {

// Where a register's value came from, as far as the walk goes.
class Origin {
 public:
  static constexpr Origin Beginning() { return Origin(kBeginning); }
  static constexpr Origin Settled() { return Origin(kSettled); }  // noted before, or a constant
  static constexpr Origin StackWord(std::uint64_t address) { return Origin(address); }

  bool is_beginning() const { return where_ == kBeginning; }
  bool is_settled() const { return where_ == kSettled; }
  std::uint64_t address() const { return where_; }

 private:
  static constexpr std::uint64_t kBeginning = 1;
  static constexpr std::uint64_t kSettled = 2;
  explicit constexpr Origin(std::uint64_t where) : where_(where) {}
  std::uint64_t where_;
};

// Takes down what a walk rests on.
class Witness {
 public:
  Witness(std::uint64_t sp, WalkEvidence* evidence) : sp_(sp), evidence_(evidence) {}

  void Saw(std::uint64_t address, std::uint64_t word) { evidence_->Add(sp_, address, word); }
  void SawSignal() { evidence_->complete = false; }
  void NeededRbp(std::uint64_t value) { Needed(value, &rbp_, &evidence_->needs_rbp); }
  void NeededRbx(std::uint64_t value) { Needed(value, &rbx_, &evidence_->needs_rbx); }
  void RbpIs(Origin origin) { rbp_ = origin; }
  void RbxIs(Origin origin) { rbx_ = origin; }

 private:
  void Needed(std::uint64_t value, Origin* origin, bool* at_beginning) {
    if (origin->is_beginning())
      *at_beginning = true;
    else if (!origin->is_settled())
      Saw(origin->address(), value);
    *origin = Origin::Settled();
  }

  const std::uint64_t sp_;
  WalkEvidence* const evidence_;
  Origin rbp_ = Origin::Beginning();
  Origin rbx_ = Origin::Beginning();
};

// For a walk that nobody wants to remember.
struct NoWitness {
  void Saw(std::uint64_t, std::uint64_t) {}
  void SawSignal() {}
  void NeededRbp(std::uint64_t) {}
  void NeededRbx(std::uint64_t) {}
  void RbpIs(Origin) {}
  void RbxIs(Origin) {}
};

}  // namespace cuheap::capture
