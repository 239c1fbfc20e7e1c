#include "allocator/frontend/site_capture.h"

#include <algorithm>
#include <mutex>

#include "allocator/base/fold.h"

namespace cuheap {
namespace {

constexpr std::uint64_t kCheckShift = 48;
constexpr std::uint64_t kFactsShift = 32;
constexpr std::uint64_t kProbes = 16;
// What the memo keeps: these bits and the site.
constexpr std::uint64_t kRemembered = std::uint64_t{1} << 63;
constexpr std::uint64_t kFromTorch = std::uint64_t{1} << 32;
// Above all addresses of code.
constexpr int kHeapShift = 56;

// Two words into a running hash.
std::uint64_t Add(std::uint64_t hash, std::uint64_t a, std::uint64_t b) {
  return Fold(hash ^ a ^ 0xa0761d6478bd642fu, b ^ 0xe7037ed1a0b428dbu);
}

std::uint64_t NonZero(std::uint64_t word) { return word | (word == 0 ? 1u : 0u); }

bool WantsPython(format::StackMode mode) {
  return mode == format::StackMode::kAuto || mode == format::StackMode::kPython ||
         mode == format::StackMode::kAll;
}

bool WantsNative(format::StackMode mode, bool has_python) {
  if (mode == format::StackMode::kAuto) return !has_python;
  return mode == format::StackMode::kNative || mode == format::StackMode::kAll;
}

}  // namespace

bool SiteCapture::Start(format::StackMode mode, Ledger* ledger) {
  mode_ = mode;
  ledger_ = ledger;
  if (!WantsPython(mode)) python_.SwitchOff();
  const Bytes first(kFirstSlots * sizeof(Slot));
  if (!slot_range_.Reserve(Bytes(kMostSlots * sizeof(Slot))) || !slot_range_.CommitUpTo(first))
    return false;
  slots_ = reinterpret_cast<Slot*>(slot_range_.data());
  slot_count_.store(kFirstSlots, std::memory_order_release);
  return memo_.Start();
}

[[gnu::hot]] CallSite SiteCapture::Capture(format::Heap heap, const void* caller) {
  if (slots_ == nullptr) return {};
  RawStack stack;
  stack.heap = heap;
  if (WantsPython(mode_)) stack.python_count = python_.Walk(stack.python, &stack.cut);
  if (WantsNative(mode_, stack.python_count != 0)) return CaptureNative(caller, &stack);
  stack.owner = OwnerOf(reinterpret_cast<std::uint64_t>(caller));
  return SiteOf(stack);
}

// Not inlined, so that the place where the walk begins is always the same.
[[gnu::hot, gnu::noinline]] CallSite SiteCapture::CaptureNative(const void* caller,
                                                                RawStack* stack) {
  const capture::StackPlace place = capture::StackPlaceHere();
  const std::uint64_t salt = reinterpret_cast<std::uint64_t>(caller) |
                             static_cast<std::uint64_t>(stack->heap) << kHeapShift;
  const bool remembered = stack->python_count == 0;
  if (const std::uint64_t value = remembered ? memo_.Find(place, salt) : 0; value != 0)
    return {.site = static_cast<SiteId>(value), .from_torch_allocator = (value & kFromTorch) != 0};
  capture::WalkEvidence evidence;
  std::uint64_t* const begin = stack->native;
  std::uint64_t* const end =
      begin + capture::WalkNativeFrom(place, stack->native, remembered ? &evidence : nullptr);
  // What lies below the caller is our own code, which is no part of anybody's stack.
  std::uint64_t* const first = std::find(begin, end, reinterpret_cast<std::uint64_t>(caller));
  stack->native_count =
      static_cast<int>(first == end ? end - begin : std::copy(first, end, begin) - begin);
  stack->owner = OwnerOf(reinterpret_cast<std::uint64_t>(caller));
  const CallSite site = SiteOf(*stack);
  if (remembered) {
    const std::lock_guard lock(mutex_);
    memo_.Keep(place, salt, evidence,
               kRemembered | (site.from_torch_allocator ? kFromTorch : 0) | Value(site.site));
  }
  return site;
}

[[gnu::hot]] CallSite SiteCapture::SiteOf(const RawStack& stack) {
  const std::uint64_t key = HashOf(stack);
  CallSite site;
  if (!Look(key, &site)) {
    const std::lock_guard lock(mutex_);
    site = Intern(stack);
    Keep(key, site);
  }
  site.from_torch_allocator = owners_.At(stack.owner).is_torch_allocator;
  return site;
}

bool SiteCapture::IsTorchAllocator(const void* caller) {
  return owners_.At(OwnerOf(reinterpret_cast<std::uint64_t>(caller))).is_torch_allocator;
}

void SiteCapture::ForgetAddresses() {
  const std::lock_guard lock(mutex_);
  owners_.Forget();
  memo_.Forget();
  EmptySlots();
}

void SiteCapture::EmptySlots() {
  for (std::uint64_t i = 0; i < slot_count(); ++i)
    slots_[i].key.store(0, std::memory_order_relaxed);
  slots_used_ = 0;
}

[[gnu::hot]] std::uint32_t SiteCapture::OwnerOf(std::uint64_t pc) {
  if (pc == 0) return 0;
  if (const std::uint32_t known = owners_.Find(pc); known != Owners::kMissing) return known;
  const std::lock_guard lock(mutex_);
  return owners_.Intern(pc, ledger_);
}

[[gnu::hot]] std::uint64_t SiteCapture::HashOf(const RawStack& stack) {
  std::uint64_t hash = Add(static_cast<std::uint64_t>(stack.heap) << 1 | (stack.cut ? 1u : 0u),
                           stack.owner, static_cast<std::uint64_t>(stack.python_count));
  for (int i = 0; i < stack.python_count; ++i) {
    const capture::PythonFrame& frame = stack.python[i];
    hash = Add(hash, reinterpret_cast<std::uint64_t>(frame.code),
               frame.fingerprint ^ std::uint64_t{frame.instruction} << 40);
  }
  for (int i = 0; i < stack.native_count; ++i) hash = Add(hash, stack.native[i], ~std::uint64_t{0});
  return NonZero(hash);
}

[[gnu::hot]] bool SiteCapture::Look(std::uint64_t key, CallSite* found) const {
  const std::uint64_t mask = slot_count() - 1;
  for (std::uint64_t i = 0; i < kProbes; ++i) {
    const Slot& slot = slots_[(key + i) & mask];
    const std::uint64_t seen = slot.key.load(std::memory_order_acquire);
    if (seen == 0) return false;
    if (seen != key) continue;
    const std::uint64_t value = slot.value.load(std::memory_order_relaxed);
    // A slot that is being used anew has another stack's value for a moment.
    if (value >> kCheckShift != key >> kCheckShift) return false;
    found->site = static_cast<SiteId>(value);
    found->facts = static_cast<std::uint16_t>(value >> kFactsShift);
    return true;
  }
  return false;
}

void SiteCapture::Keep(std::uint64_t key, const CallSite& site) {
  if (slots_used_ >= slot_count() / 2) {
    EmptySlots();
    const std::uint64_t more = std::min(slot_count() * 2, kMostSlots);
    if (slot_range_.CommitUpTo(Bytes(more * sizeof(Slot))))
      slot_count_.store(more, std::memory_order_release);
  }
  const std::uint64_t mask = slot_count() - 1;
  for (std::uint64_t i = 0; i < kProbes; ++i) {
    Slot& slot = slots_[(key + i) & mask];
    const std::uint64_t seen = slot.key.load(std::memory_order_relaxed);
    if (seen == key) return;
    if (seen != 0) continue;
    slot.value.store((key >> kCheckShift) << kCheckShift |
                         std::uint64_t{site.facts} << kFactsShift | Value(site.site),
                     std::memory_order_relaxed);
    slot.key.store(key, std::memory_order_release);
    ++slots_used_;
    return;
  }
}

CallSite SiteCapture::Intern(const RawStack& stack) {
  std::uint64_t frames[capture::kMaxPythonFrames + capture::kMaxNativeFrames];
  StepFrame steps[capture::kMaxPythonFrames];
  std::size_t count = 0;
  for (int i = 0; i < stack.python_count; ++i) {
    const Code code = CodeOf(stack.python[i]);
    frames[count] = format::PythonFrame(code.id, stack.python[i].instruction);
    steps[count] = {.role = code.role, .place = frames[count]};
    ++count;
  }
  CallSite site;
  if (count != 0) site.facts = InternFacts(FactsOf({steps, count}, stack.cut));
  for (int i = 0; i < stack.native_count; ++i) frames[count++] = NativeFrameOf(stack.native[i]);
  if (format::DropCounters* dropped = ledger_->dropped(); stack.cut && dropped != nullptr)
    dropped->frames.fetch_add(1, std::memory_order_relaxed);
  site.site = ledger_->InternSite(
      stack.heap, owners_.At(stack.owner).id, 0,
      stack.cut ? static_cast<std::uint8_t>(format::kSiteCut) : std::uint8_t{0}, {frames, count});
  return site;
}

SiteCapture::Code SiteCapture::CodeOf(const capture::PythonFrame& frame) {
  const std::uint64_t key =
      NonZero(Add(0, reinterpret_cast<std::uint64_t>(frame.code), frame.fingerprint));
  if (const Code* known = codes_.Find(key);
      known != nullptr && known->code == frame.code && known->fingerprint == frame.fingerprint)
    return *known;
  char scratch[2048];
  const capture::CodeContent content = python_.Describe(frame, scratch);
  const Code code = {.code = frame.code,
                     .fingerprint = frame.fingerprint,
                     .id = ledger_->InternCode(content.file, content.function, content.first_line,
                                               content.linetable),
                     .role = RoleOf(content.file, content.function)};
  Code* place = codes_.FindOrInsert(key);
  if (place == nullptr) {
    codes_.Clear();
    place = codes_.FindOrInsert(key);
  }
  if (place != nullptr) *place = code;
  return code;
}

// Return addresses are kept minus one: inside the call.
std::uint64_t SiteCapture::NativeFrameOf(std::uint64_t pc) {
  const Owner& owner = owners_.At(owners_.Intern(pc - 1, ledger_));
  return owner.id != 0 ? format::NativeFrame(owner.id, pc - 1 - owner.module.load_bias)
                       : format::RawFrame(pc - 1);
}

// Few distinct facts exist: the call sites of a program's loop times the phases.
std::uint16_t SiteCapture::InternFacts(const StackFacts& facts) {
  for (std::uint16_t i = 1; i < facts_count_; ++i)
    if (facts_[i] == facts) return i;
  if (facts_count_ == kMostFacts) return 0;
  facts_[facts_count_] = facts;
  return facts_count_++;
}

}  // namespace cuheap
