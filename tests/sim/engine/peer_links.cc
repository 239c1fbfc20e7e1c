#include "tests/sim/engine/peer_links.h"

#include <algorithm>
#include <charconv>

namespace cuheap::sim {
namespace {

bool ReadDevice(std::string_view text, int most, int* out) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *out);
  return error == std::errc() && end == text.data() + text.size() && *out >= 0 && *out < most;
}

}  // namespace

bool PeerLinks::Add(std::string_view pair) {
  const std::size_t dash = pair.find('-');
  if (dash == std::string_view::npos) return false;
  int first = 0;
  int second = 0;
  if (!ReadDevice(pair.substr(0, dash), kMost, &first) ||
      !ReadDevice(pair.substr(dash + 1), kMost, &second) || first == second) {
    return false;
  }
  linked_.set(static_cast<std::size_t>(first * kMost + second));
  linked_.set(static_cast<std::size_t>(second * kMost + first));
  return true;
}

bool PeerLinks::Read(std::string_view text, PeerLinks* out) {
  *out = PeerLinks{};
  if (text == "none") return true;
  if (text == "all") {
    out->linked_.set();
    return true;
  }
  for (std::size_t start = 0; start <= text.size();) {
    const std::size_t comma = std::min(text.find(',', start), text.size());
    if (!out->Add(text.substr(start, comma - start))) return false;
    start = comma + 1;
  }
  return true;
}

bool PeerLinks::Connect(int device, int peer) const {
  if (device == peer || device < 0 || peer < 0 || device >= kMost || peer >= kMost) return false;
  return linked_.test(static_cast<std::size_t>(device * kMost + peer));
}

}  // namespace cuheap::sim
