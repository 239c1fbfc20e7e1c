// The n-th driver call of an operation fails, for every n: no memory is lost, the books agree, and
// the next attempt works.
#include <gtest/gtest.h>

#include <functional>
#include <vector>

#include "tests/pool/fixture.h"

namespace cuheap::pool {
namespace {

struct Operation {
  const char* name;
  std::function<void(PoolOnAccounts&)> prepare;
  std::function<bool(PoolOnAccounts&)> run;
};

// What prepare made lives here, for run.
std::vector<Address> kept;

void FreeKept(PoolOnAccounts& t) {
  for (const Address block : kept) EXPECT_TRUE(t.pool->Free(block).ok());
  kept.clear();
}

bool Allocates(PoolOnAccounts& t, Bytes bytes, StreamHandle stream) {
  Address address{};
  const bool ok = t.pool->Allocate({.bytes = bytes, .stream = stream}, &address).ok();
  if (ok) kept.push_back(address);
  return ok;
}

const Operation kOperations[] = {
    {"the first small block", [](PoolOnAccounts&) {},
     [](PoolOnAccounts& t) { return Allocates(t, 512_B, kStream); }},
    {"a large block", [](PoolOnAccounts&) {},
     [](PoolOnAccounts& t) { return Allocates(t, 6_MiB, kStream); }},
    {"a huge block", [](PoolOnAccounts&) {},
     [](PoolOnAccounts& t) { return Allocates(t, 20_MiB, kStream); }},
    {"moving pages from another stream",
     [](PoolOnAccounts& t) {
       for (int i = 0; i < 8; ++i) kept.push_back(t.Allocate(7_MiB, kOther));
       FreeKept(t);
       kept.push_back(t.Allocate(3_MiB, kOther));
     },
     [](PoolOnAccounts& t) {
       return Allocates(t, 7_MiB, kStream) && Allocates(t, 7_MiB, kStream);
     }},
    {"waiting for another stream",
     [](PoolOnAccounts& t) {
       const Address block = t.Allocate(3_MiB);
       EXPECT_TRUE(t.pool->RecordUse(block, kOther).ok());
       kept.push_back(block);
     },
     [](PoolOnAccounts& t) {
       FreeKept(t);
       t.Empty();
       return true;
     }},
    {"emptying",
     [](PoolOnAccounts& t) {
       for (const Bytes bytes : {512_B, 3_MiB, 7_MiB, 20_MiB}) kept.push_back(t.Allocate(bytes));
       FreeKept(t);
     },
     [](PoolOnAccounts& t) {
       t.Empty();
       return true;
     }},
};

class Faults : public ::testing::TestWithParam<DriverCode> {};

TEST_P(Faults, EveryCallOfEveryOperationMayFail) {
  for (const Operation& operation : kOperations) {
    for (std::uint64_t n = 1;; ++n) {
      SCOPED_TRACE(std::string(operation.name) + ", call " + std::to_string(n));
      PoolOnAccounts t({.capacity = 64_MiB});
      kept.clear();
      operation.prepare(t);
      t.faults.FailNext(n, {.code = GetParam(), .cuda = 2});
      const bool worked = operation.run(t);
      const bool failed = t.faults.failed();
      t.faults.FailNext(0, {});
      ASSERT_STREQ(t.pool->FirstBrokenLaw(), nullptr);
      ASSERT_EQ(t.Figures().reserved.count(), t.accounts.used(kDevice).count());
      if (!worked) {
        ASSERT_TRUE(operation.run(t)) << "works when the fault is gone";
      }
      FreeKept(t);
      if (!failed) break;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Codes, Faults,
                         ::testing::Values(DriverCode::kOutOfMemory, DriverCode::kInvalid,
                                           DriverCode::kFailed, DriverCode::kCapturing));

}  // namespace
}  // namespace cuheap::pool
