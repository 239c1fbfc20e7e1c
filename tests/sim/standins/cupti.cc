// CUPTI: a profiler may subscribe and collect; there is never a record.
#include "tests/sim/standins/standin.h"

using namespace cuheap::sim_standin;

namespace {
constexpr std::uint32_t kVersion = 130000;
constexpr int kNoMoreRecords = 12;  // CUPTI_ERROR_MAX_LIMIT_REACHED
}  // namespace

CUHEAP_STANDIN int cuptiGetVersion(std::uint32_t* version) {
  *version = kVersion;
  return 0;
}
CUHEAP_STANDIN int cuptiGetResultString(int status, const char** text) {
  *text = status == 0 ? "CUPTI_SUCCESS" : "CUPTI_ERROR_NOT_SUPPORTED";
  return 0;
}
CUHEAP_STANDIN int cuptiSubscribe(Handle* subscriber, void*, void*) { return Create(subscriber); }
CUHEAP_STANDIN int cuptiUnsubscribe(Handle subscriber) { return Destroy(subscriber); }
CUHEAP_STANDIN int cuptiGetCallbackName(int, std::uint32_t, const char** name) {
  *name = "unknown";
  return 0;
}
CUHEAP_STANDIN int cuptiActivityGetNextRecord(std::uint8_t*, std::size_t, Handle* record) {
  *record = nullptr;
  return kNoMoreRecords;
}
CUHEAP_STANDIN int cuptiActivityGetNumDroppedRecords(Handle, std::uint32_t, std::size_t* dropped) {
  *dropped = 0;
  return 0;
}
CUHEAP_STANDIN int cuptiActivityPopExternalCorrelationId(int, std::uint64_t* last) {
  if (last != nullptr) *last = 0;
  return 0;
}
