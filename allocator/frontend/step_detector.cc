#include "allocator/frontend/step_detector.h"

#include <mutex>

namespace cuheap {

[[gnu::hot]] bool StepDetector::Observe(ThreadSteps* thread, const StackFacts& facts,
                                        FrameTicks* ticks) {
  bool any = false;
  for (std::size_t i = 0; i < facts.call_sites.size(); ++i) {
    const std::uint64_t now = facts.call_sites[i];
    const std::uint64_t before = thread->present[i];
    (*ticks)[i] = false;
    if (now == before || now == StackFacts::kUnknown) continue;
    if (before != StackFacts::kAbsent && Left(thread, i)) any = (*ticks)[i] = true;
    thread->present[i] = now;
  }
  return any;
}

bool StepDetector::Left(ThreadSteps* thread, std::size_t signal) {
  const std::lock_guard lock(mutex_);
  if (thread->number == 0) thread->number = ++threads_;
  Lead* lead = &leads_[signal];
  const Source source{.thread = thread->number, .call_site = thread->present[signal]};
  if (lead->leader.thread == 0) lead->leader = source;
  if (lead->leader == source || Contend(lead, source)) {
    lead->contenders.fill({});
    return true;
  }
  return false;
}

// Counts a tick of somebody who does not lead. True when it leads from now on.
bool StepDetector::Contend(Lead* lead, const Source& source) {
  Source* weakest = &lead->contenders[0];
  for (Source& contender : lead->contenders) {
    if (contender == source || contender.thread == 0) {
      weakest = &contender;
      break;
    }
    if (contender.ticks < weakest->ticks) weakest = &contender;
  }
  if (!(*weakest == source)) *weakest = source;
  if (++weakest->ticks < kTakeOver) return false;
  lead->leader = source;
  return true;
}

}  // namespace cuheap
