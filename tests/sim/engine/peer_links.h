// Which devices can reach each other's memory (setting CUHEAP_SIM_PEERS). A link goes both ways;
// whether it is used is up to the program (peer_access.h).
#pragma once

#include <bitset>
#include <string_view>

namespace cuheap::sim {

class PeerLinks {
 public:
  // "all", "none", or pairs with commas between: "0-1,2-3".
  static bool Read(std::string_view text, PeerLinks* out);

  // False for a device and itself, and for what is no device.
  bool Connect(int device, int peer) const;

 private:
  static constexpr int kMost = 16;
  bool Add(std::string_view pair);

  std::bitset<kMost * kMost> linked_;
};

}  // namespace cuheap::sim
