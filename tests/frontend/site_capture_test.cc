#include "allocator/frontend/site_capture.h"

#include <algorithm>
#include <memory>

#include "allocator/base/clock.h"
#include "tests/frontend/fixture.h"

namespace cuheap {
namespace {

class SiteCaptureTest : public testing::FolderTest {
 protected:
  void Start(format::StackMode mode) {
    const std::string destination = out();
    LedgerOptions options;
    options.destination = destination.c_str();
    options.shared_folder = folder.c_str();
    ASSERT_TRUE(ledger_.Open(options, SystemClock()));
    ASSERT_TRUE(sites_->Start(mode, &ledger_));
  }
  [[gnu::noinline]] CallSite Here() {
    return sites_->Capture(format::Heap::k_driver, __builtin_return_address(0));
  }
  [[gnu::noinline]] CallSite FromOneLine() { return Here(); }
  [[gnu::noinline]] CallSite FromAnother() {
    const CallSite site = Here();
    // Keeps this from being folded into the other one, which would be the same code.
    asm volatile("" ::: "memory");
    return site;
  }

  [[gnu::noinline]] SiteId AtDepth(int depth, format::Heap heap) {
    const SiteId site = depth == 0 ? sites_->Capture(heap, __builtin_return_address(0)).site
                                   : AtDepth(depth - 1, heap);
    asm volatile("" ::: "memory");  // no tail call
    return site;
  }

  // Unknown to the compiler, which would make several call sites of a short loop.
  volatile int times_ = 3;
  Ledger ledger_;
  std::unique_ptr<SiteCapture> sites_ = std::make_unique<SiteCapture>();
};

TEST_F(SiteCaptureTest, TheSameStackIsTheSameSite) {
  Start(format::StackMode::kAuto);
  std::vector<SiteId> seen;
  for (int i = 0; i < times_; ++i) seen.push_back(FromOneLine().site);
  EXPECT_NE(seen[0], SiteId::kUnknown);
  EXPECT_EQ(seen[0], seen[1]);
  EXPECT_EQ(seen[1], seen[2]);
}

TEST_F(SiteCaptureTest, DifferentCallersAreDifferentSites) {
  Start(format::StackMode::kAuto);
  EXPECT_NE(FromOneLine().site, FromAnother().site);
}

TEST_F(SiteCaptureTest, ForgottenAddressesGiveTheSameSiteByContent) {
  Start(format::StackMode::kAuto);
  std::vector<SiteId> seen;
  for (int i = 0; i < times_; ++i) {
    seen.push_back(FromOneLine().site);
    sites_->ForgetAddresses();
  }
  EXPECT_EQ(seen[0], seen[1]);
}

TEST_F(SiteCaptureTest, WithoutPythonTheFramesAreNativeAndTheOwnerIsTheCallersModule) {
  Start(format::StackMode::kAuto);
  const SiteId id = FromOneLine().site;
  ledger_.Close();
  const trace::Trace trace = Read();
  const trace::Site& site = trace.dictionary.site(Value(id));
  ASSERT_FALSE(site.frames.empty());
  EXPECT_EQ(format::KindOf(site.frames[0]), format::FrameKind::kNative);
  EXPECT_EQ(std::filesystem::path(trace.dictionary.module(site.owner).path).filename(),
            "frontend_test");
}

TEST_F(SiteCaptureTest, WithoutStacksASiteIsAnOwner) {
  Start(format::StackMode::kNone);
  const SiteId id = FromOneLine().site;
  EXPECT_EQ(id, FromAnother().site);
  ledger_.Close();
  const trace::Trace trace = Read();
  EXPECT_TRUE(trace.dictionary.site(Value(id)).frames.empty());
  EXPECT_NE(trace.dictionary.site(Value(id)).owner, 0u);
}

TEST_F(SiteCaptureTest, AnUnknownCallerHasNoOwner) {
  Start(format::StackMode::kNone);
  EXPECT_EQ(sites_->Capture(format::Heap::k_driver, nullptr).site,
            sites_->Capture(format::Heap::k_driver, nullptr).site);
  EXPECT_FALSE(sites_->IsTorchAllocator(nullptr));
}

// More stacks than the first table of them holds.
TEST_F(SiteCaptureTest, ManyStacksKeepTheirSites) {
  Start(format::StackMode::kNative);
  constexpr int kHeaps = 200;
  constexpr int kDepths = 15;
  std::vector<SiteId> first;
  std::vector<SiteId> second;
  for (std::vector<SiteId>* seen : {&first, &second})
    for (int heap = 0; heap < kHeaps * times_ / 3; ++heap)
      for (int depth = 0; depth < kDepths; ++depth)
        seen->push_back(AtDepth(depth, static_cast<format::Heap>(heap)));
  EXPECT_EQ(first, second);
  std::sort(first.begin(), first.end());
  EXPECT_EQ(std::unique(first.begin(), first.end()) - first.begin(), kHeaps * kDepths);
}

TEST_F(SiteCaptureTest, BeforeStartEverySiteIsUnknown) {
  EXPECT_EQ(FromOneLine().site, SiteId::kUnknown);
}

}  // namespace
}  // namespace cuheap
