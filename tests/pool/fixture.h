// A pool on the accounting driver, which gives everything back at its end and looks whether all of
// it came back.
#pragma once

#include <gtest/gtest.h>

#include <memory>

#include "allocator/driver/accounting_driver.h"
#include "allocator/driver/fault_driver.h"
#include "allocator/pool/pool.h"

namespace cuheap::pool {

inline constexpr DeviceId kDevice{0};
inline constexpr StreamHandle kStream{100};
inline constexpr StreamHandle kOther{200};

class PoolOnAccounts {
 public:
  explicit PoolOnAccounts(const AccountingRules& rules = {}, const Options& options = {})
      : accounts(rules), faults(accounts) {
    pool->Start(&faults, options);
  }
  ~PoolOnAccounts() {
    EXPECT_STREQ(pool->FirstBrokenLaw(), nullptr);
    if (driver_is_gone) {
      pool->Stop();
      return;
    }
    pool->Shutdown();
    EXPECT_EQ(accounts.used(kDevice), Bytes());
    EXPECT_EQ(accounts.LiveObjects(), 0u);
  }

  Address Allocate(Bytes bytes, StreamHandle stream = kStream) {
    Address address{};
    EXPECT_EQ(pool->Allocate({.bytes = bytes, .stream = stream}, &address).code, Code::kOk);
    return address;
  }
  Code Try(Bytes bytes, StreamHandle stream = kStream, Bytes alignment = 512_B) {
    Address address{};
    const Status status =
        pool->Allocate({.bytes = bytes, .alignment = alignment, .stream = stream}, &address);
    if (status.ok()) {
      EXPECT_EQ(pool->Free(address).code, Code::kOk);
    }
    return status.code;
  }
  Statistics Figures() {
    Statistics figures;
    EXPECT_TRUE(pool->Figures(kDevice, &figures).ok());
    EXPECT_EQ(figures.reserved,
              figures.live + figures.cached + figures.waiting + figures.holes + figures.idle);
    return figures;
  }
  EmptyResult Empty(std::span<Stay> stays = {}) {
    EmptyResult result;
    EXPECT_TRUE(pool->Empty(kDevice, stays, &result).ok());
    return result;
  }
  std::uint64_t Calls() const {
    std::uint64_t calls = 0;
    for (std::size_t i = 0; i < kDriverCalls; ++i)
      calls += accounts.calls(static_cast<DriverCall>(i));
    return calls;
  }

  AccountingDriver accounts;
  FaultDriver faults;
  bool driver_is_gone = false;  // nothing comes back any more
  std::unique_ptr<Pool> pool = std::make_unique<Pool>();
};

}  // namespace cuheap::pool
