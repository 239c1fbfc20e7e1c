#include "tests/sim/engine/latency.h"

#include <array>
#include <atomic>
#include <cstddef>

#include "tests/sim/engine/call_gate.h"
#include "tests/sim/engine/driver_function.h"

namespace cuheap::sim {
namespace {

constexpr std::uint64_t kMiB = 1ULL << 20;

struct Price {
  std::uint64_t cost = 0;
  std::uint64_t growing_cost = 0;
  std::size_t argument = 0;
  std::uint64_t included = 0;
  std::uint64_t unit = 0;  // 0: the size does not matter
  std::uint64_t unit_cost = 0;
};

using PriceList = std::array<Price, static_cast<std::size_t>(DriverFunction::kCount)>;

constexpr PriceList kPrices = [] {
  PriceList prices{};
  const auto set = [&prices](DriverFunction function, const Price& price) {
    prices[static_cast<std::size_t>(function)] = price;
  };
#define FIXED(function, cost, origin) set(DriverFunction::function, {cost, cost});
#define SIZED(function, cost, argument, included, unit, unit_cost, origin) \
  set(DriverFunction::function, {cost, cost, argument, included, unit, unit_cost});
#define POOLED(function, cost, growing_cost, origin) \
  set(DriverFunction::function, {cost, growing_cost});
#include "tests/sim/engine/latency.def"
#undef FIXED
#undef SIZED
#undef POOLED
  return prices;
}();

std::atomic<std::uint64_t> of_process{0};
thread_local constinit std::uint64_t of_thread = 0;

// Bytes and costs of a unit multiply beyond 64 bits.
std::uint64_t InProportion(std::uint64_t bytes, const Price& price) {
  const std::uint64_t whole = bytes / price.unit;
  const std::uint64_t rest = bytes % price.unit;
  return whole * price.unit_cost + rest * price.unit_cost / price.unit;
}

}  // namespace

void ChargeLatency(bool on) { SetGate(GateBit::kLatency, on); }

std::uint64_t Charge(DriverFunction function, std::span<const std::uint64_t> arguments,
                     bool device_gave) {
  const Price& price = kPrices[static_cast<std::size_t>(function)];
  std::uint64_t cost = device_gave ? price.growing_cost : price.cost;
  if (price.unit != 0 && arguments[price.argument] > price.included) {
    cost += InProportion(arguments[price.argument] - price.included, price);
  }
  of_process += cost;
  of_thread += cost;
  return cost;
}

std::uint64_t LatencyOfProcess() { return of_process; }
std::uint64_t LatencyOfThread() { return of_thread; }

}  // namespace cuheap::sim
