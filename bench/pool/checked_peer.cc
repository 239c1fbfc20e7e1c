#include "bench/pool/checked_peer.h"

#include <cstdio>

namespace cuheap::bench {
namespace {

std::size_t FreeOnDevice() {
  std::size_t free = 0;
  std::size_t total = 0;
  return cudaMemGetInfo(&free, &total) == cudaSuccess ? free : 0;
}

}  // namespace

void Complaints::Add(const char* what) {
  std::fprintf(stderr, "check: %s\n", what);
  ++count_;
}

CheckedPeer::CheckedPeer(Peer* (*make)(), Complaints& complaints)
    : complaints_(complaints), free_before_(FreeOnDevice()), peer_(make()) {}

CheckedPeer::~CheckedPeer() {
  if (!live_.empty()) complaints_.Add("a workload left blocks");
  peer_.reset();
  if (FreeOnDevice() != free_before_) complaints_.Add("the peer keeps memory");
}

bool CheckedPeer::Overlaps(std::uintptr_t address, std::size_t bytes) const {
  const auto next = live_.lower_bound(address);
  if (next != live_.end() && next->first - address < bytes) return true;
  if (next == live_.begin()) return false;
  const auto& [before, before_bytes] = *std::prev(next);
  return address - before < before_bytes;
}

void* CheckedPeer::Allocate(std::size_t bytes, cudaStream_t stream) {
  void* const block = peer_->Allocate(bytes, stream);
  if (block == nullptr) return nullptr;
  const std::lock_guard lock(mutex_);
  const auto address = reinterpret_cast<std::uintptr_t>(block);
  if (Overlaps(address, bytes)) complaints_.Add("a block overlaps one that lives");
  live_[address] = bytes;
  return block;
}

void CheckedPeer::Free(void* block, std::size_t bytes, cudaStream_t stream) {
  {
    const std::lock_guard lock(mutex_);
    const auto found = live_.find(reinterpret_cast<std::uintptr_t>(block));
    if (found == live_.end() || found->second != bytes) {
      complaints_.Add("a workload frees what it does not have");
    } else {
      live_.erase(found);
    }
  }
  peer_->Free(block, bytes, stream);
}

}  // namespace cuheap::bench
