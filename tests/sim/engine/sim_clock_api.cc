// The part of sim_api.h about clocks, kernels that declare what they do, and races.
#include <cstdio>
#include <functional>
#include <memory>
#include <utility>

#include "tests/sim/engine/call_gate.h"
#include "tests/sim/engine/clock.h"
#include "tests/sim/engine/conditional.h"
#include "tests/sim/engine/engine_lock.h"
#include "tests/sim/engine/race_report.h"
#include "tests/sim/engine/sim_api.h"
#include "tests/sim/engine/stream.h"
#include "tests/sim/engine/turns.h"
#include "tests/sim/engine/work_queue.h"

using namespace cuheap::sim;

namespace {

Stream* QueuedStream(void* handle) {
  Stream* stream = nullptr;
  const CUresult found = ResolveStream(static_cast<CUstream>(handle), false, &stream);
  return found == CUDA_SUCCESS && IsQueued() ? stream : nullptr;
}

CUresult Launch(void* handle, const char* name, const cuheap_sim_range* ranges, std::size_t count,
                std::function<void()> body, bool between_contexts) {
  Stream* stream = nullptr;
  const CUresult found = ResolveStream(static_cast<CUstream>(handle), false, &stream);
  if (found != CUDA_SUCCESS) return found;
  TouchOp kernel{name, {}, std::move(body), between_contexts};
  for (std::size_t i = 0; i < count; ++i)
    kernel.ranges.push_back({ranges[i].base, ranges[i].bytes, ranges[i].writes != 0});
  return Submit(stream, std::move(kernel));
}

}  // namespace

int cuheap_sim_advance_one(void* handle) {
  Stream* stream = QueuedStream(handle);
  return stream != nullptr && AdvanceOne(stream) ? 1 : 0;
}

int cuheap_sim_advance_stream(void* handle) {
  int any = 0;
  while (cuheap_sim_advance_one(handle) != 0) any = 1;
  return any;
}

int cuheap_sim_run_until_idle(void) { return IsQueued() && AdvanceAll() ? 1 : 0; }

int cuheap_sim_launch(void* handle, const char* name, const cuheap_sim_range* ranges,
                      std::size_t count) {
  return Launch(handle, name, ranges, count, {}, false);
}

int cuheap_sim_launch_body(void* handle, const char* name, const cuheap_sim_range* ranges,
                           std::size_t count, const cuheap_sim_body* body) {
  const std::shared_ptr<void> owned(body->data, body->release);
  const auto run = [owned, run = body->run] { run(owned.get()); };
  return Launch(handle, name, ranges, count, run, body->is_collective != 0);
}

int cuheap_sim_set_conditional(void* stream_handle, uint64_t id, const unsigned* values,
                               std::size_t count) {
  Stream* stream = nullptr;
  const CUresult found = ResolveStream(static_cast<CUstream>(stream_handle), false, &stream);
  if (found != CUDA_SUCCESS) return found;
  auto writes = std::make_shared<ConditionalWrites>();
  {
    const EngineLock lock;
    writes->handle = FindConditionalHandle(id);
  }
  const bool known = writes->handle != nullptr && writes->handle->context == stream->context;
  if (!known || values == nullptr || count == 0) return CUDA_ERROR_INVALID_VALUE;
  writes->values.assign(values, values + count);
  return Submit(stream, SetConditionalOp{std::move(writes)});
}

void cuheap_sim_expect_threads(std::size_t count) { ExpectThreads(count); }
void cuheap_sim_name_thread(int place) { NameThread(place); }

uint64_t cuheap_sim_races(void) { return RacesReported(); }

void cuheap_sim_last_race(char* text, std::size_t room) {
  std::snprintf(text, room, "%s", LastRace().c_str());
}

void cuheap_sim_forget_races(void) { ForgetRaces(); }
