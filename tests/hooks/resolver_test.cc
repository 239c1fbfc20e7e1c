// The real functions are found wherever the loader put them.
#include "tests/hooks/victims.h"

namespace cuheap::testing {
namespace {

class ResolverTest : public VictimTest {};

TEST_F(ResolverTest, ARuntimeInALocalScopeIsFoundThroughItsCaller) {
  EXPECT_EQ(RunBothWays("hook_plugin_host " CUHEAP_LIB "/libhook_plugin.so").output, "0\n");
  EXPECT_EQ(LiveBytes(format::Heap::k_driver), 1u << 20);
}

TEST_F(ResolverTest, WithoutARuntimeOursSaysThatTheSymbolIsMissing) {
  constexpr const char* kSymbolNotFound = "302\n";
  const Outcome outcome = Run("hook_plugin_host");
  EXPECT_EQ(outcome.status, 0);
  EXPECT_EQ(outcome.output, kSymbolNotFound);
  EXPECT_FALSE(has_trace());
}

}  // namespace
}  // namespace cuheap::testing
