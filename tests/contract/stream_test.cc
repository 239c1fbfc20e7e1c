// Streams and events: what is done when, in which order, and who is told.
#include "tests/contract/contract.h"

namespace cuheap::contract {

template <class Face>
class Streams : public Contract<Face> {};
TYPED_TEST_SUITE(Streams, Faces, NameOfFace);

TYPED_TEST(Streams, AreNotReadyWhileTheyHaveWork) {
  CUHEAP_CONTRACT_NEEDS(Gate::IsPossible(), "work that waits");
  Gate gate;
  CUstream const stream = this->NewStream();
  this->Queue(stream, &gate);
  EXPECT_CODE(CUDA_ERROR_NOT_READY, TypeParam::StreamQuery(stream));
  gate.Open();
  EXPECT_OK(TypeParam::StreamSynchronize(stream));
  EXPECT_OK(TypeParam::StreamQuery(stream));
  EXPECT_OK(TypeParam::StreamDestroy(stream));
}

TYPED_TEST(Streams, WaitForEventsOfOthers) {
  CUHEAP_CONTRACT_NEEDS(Gate::IsPossible(), "work that waits");
  Gate gate;
  CUstream const first = this->NewStream();
  CUstream const second = this->NewStream();
  CUevent const event = this->NewEvent();
  this->Queue(first, &gate);
  EXPECT_OK(TypeParam::EventRecord(event, first));
  EXPECT_OK(TypeParam::StreamWaitEvent(second, event));
  EXPECT_CODE(CUDA_ERROR_NOT_READY, TypeParam::EventQuery(event));
  EXPECT_CODE(CUDA_ERROR_NOT_READY, TypeParam::StreamQuery(second));
  gate.Open();
  EXPECT_OK(TypeParam::StreamSynchronize(second));
  EXPECT_TRUE(gate.passed());
  EXPECT_OK(TypeParam::EventQuery(event));
  EXPECT_OK(TypeParam::EventDestroy(event));
  EXPECT_OK(TypeParam::StreamDestroy(first));
  EXPECT_OK(TypeParam::StreamDestroy(second));
}

TYPED_TEST(Streams, DoNotWaitForOneAnother) {
  CUHEAP_CONTRACT_NEEDS(Gate::IsPossible(), "work that waits");
  Gate gate;
  CUstream const slow = this->NewStream();
  CUstream const quick = this->NewStream();
  this->Queue(slow, &gate);
  EXPECT_OK(TypeParam::StreamSynchronize(quick));
  EXPECT_FALSE(gate.passed());
  gate.Open();
  EXPECT_OK(TypeParam::StreamDestroy(slow));
  EXPECT_OK(TypeParam::StreamDestroy(quick));
  EXPECT_OK(TypeParam::Synchronize());
  EXPECT_TRUE(gate.passed());
}

TYPED_TEST(Streams, ThatBlockWaitForTheLegacyDefaultStream) {
  CUHEAP_CONTRACT_NEEDS(Gate::IsPossible(), "work that waits");
  Gate gate;
  CUstream blocking = nullptr;
  ASSERT_OK(TypeParam::StreamCreate(&blocking, CU_STREAM_DEFAULT));
  CUevent const event = this->NewEvent();
  this->Queue(CU_STREAM_LEGACY, &gate);
  EXPECT_OK(TypeParam::EventRecord(event, blocking));
  EXPECT_CODE(CUDA_ERROR_NOT_READY, TypeParam::EventQuery(event));
  gate.Open();
  EXPECT_OK(TypeParam::EventSynchronize(event));
  EXPECT_TRUE(gate.passed());
  EXPECT_OK(TypeParam::EventDestroy(event));
  EXPECT_OK(TypeParam::StreamDestroy(blocking));
}

TYPED_TEST(Streams, ThatDoNotBlockIgnoreTheLegacyDefaultStream) {
  CUHEAP_CONTRACT_NEEDS(Gate::IsPossible(), "work that waits");
  Gate gate;
  CUstream const stream = this->NewStream();
  this->Queue(CU_STREAM_LEGACY, &gate);
  EXPECT_OK(TypeParam::StreamSynchronize(stream));
  EXPECT_FALSE(gate.passed());
  gate.Open();
  EXPECT_OK(TypeParam::Synchronize());
  EXPECT_OK(TypeParam::StreamDestroy(stream));
}

TYPED_TEST(Streams, KeepTheirWorkWhenDestroyed) {
  void* const memory = this->Malloc(512);
  CUstream const stream = this->NewStream();
  EXPECT_OK(TypeParam::MemsetAsync(memory, 1, 512, stream));
  EXPECT_OK(TypeParam::MemsetAsync(memory, 2, 512, stream));
  EXPECT_OK(TypeParam::StreamDestroy(stream));
  EXPECT_OK(TypeParam::Synchronize());
  CUstream const other = this->NewStream();
  EXPECT_EQ(std::vector<unsigned char>(512, 2), this->Bytes(memory, 512, other));
  EXPECT_OK(TypeParam::StreamDestroy(other));
  EXPECT_OK(TypeParam::Free(memory));
}

TYPED_TEST(Streams, HaveIdsThatNeverRepeat) {
  std::vector<unsigned long long> ids;
  for (int round = 0; round < 8; ++round) {
    CUstream const stream = this->NewStream();
    unsigned long long id = 0;
    EXPECT_OK(TypeParam::StreamGetId(stream, &id));
    for (const unsigned long long earlier : ids) EXPECT_NE(earlier, id);
    ids.push_back(id);
    EXPECT_OK(TypeParam::StreamDestroy(stream));
  }
}

TYPED_TEST(Streams, EventsThatNobodyRecordedAreDone) {
  CUevent const event = this->NewEvent();
  CUstream const stream = this->NewStream();
  EXPECT_OK(TypeParam::EventQuery(event));
  EXPECT_OK(TypeParam::EventSynchronize(event));
  EXPECT_OK(TypeParam::StreamWaitEvent(stream, event));
  EXPECT_OK(TypeParam::StreamSynchronize(stream));
  EXPECT_OK(TypeParam::StreamDestroy(stream));
  EXPECT_OK(TypeParam::EventDestroy(event));
}

TYPED_TEST(Streams, WaitForTheRecordBeforeTheWaitAlone) {
  CUHEAP_CONTRACT_NEEDS(Gate::IsPossible(), "work that waits");
  Gate gate;
  CUstream const first = this->NewStream();
  CUstream const second = this->NewStream();
  CUevent const event = this->NewEvent();
  EXPECT_OK(TypeParam::EventRecord(event, first));
  EXPECT_OK(TypeParam::StreamWaitEvent(second, event));
  this->Queue(first, &gate);
  EXPECT_OK(TypeParam::EventRecord(event, first));
  EXPECT_OK(TypeParam::StreamSynchronize(second)) << "waits for the first record, not the second";
  EXPECT_CODE(CUDA_ERROR_NOT_READY, TypeParam::EventQuery(event));
  gate.Open();
  EXPECT_OK(TypeParam::EventSynchronize(event));
  EXPECT_OK(TypeParam::EventDestroy(event));
  EXPECT_OK(TypeParam::StreamDestroy(first));
  EXPECT_OK(TypeParam::StreamDestroy(second));
}

TYPED_TEST(Streams, TimeBetweenEventsNeedsEventsThatTime) {
  CUstream const stream = this->NewStream();
  CUevent const untimed = this->NewEvent();
  CUevent const start = this->NewEvent(CU_EVENT_DEFAULT);
  CUevent const end = this->NewEvent(CU_EVENT_DEFAULT);
  float milliseconds = -1;
  EXPECT_CODE(CUDA_ERROR_INVALID_HANDLE, TypeParam::EventElapsedTime(&milliseconds, start, end))
      << "not recorded yet";
  for (CUevent const event : {untimed, start, end}) {
    EXPECT_OK(TypeParam::EventRecord(event, stream));
  }
  EXPECT_OK(TypeParam::StreamSynchronize(stream));
  EXPECT_CODE(CUDA_ERROR_INVALID_HANDLE, TypeParam::EventElapsedTime(&milliseconds, untimed, end));
  EXPECT_EQ(-1, milliseconds);
  EXPECT_OK(TypeParam::EventElapsedTime(&milliseconds, start, end));
  EXPECT_GE(milliseconds, 0);
  for (CUevent const event : {untimed, start, end}) EXPECT_OK(TypeParam::EventDestroy(event));
  EXPECT_OK(TypeParam::StreamDestroy(stream));
}

TYPED_TEST(Streams, DoNotTakeEventsOfAnotherDevice) {
  CUHEAP_CONTRACT_NEEDS(this->Devices() > 1, "two devices");
  CUevent const event = this->NewEvent();
  CUstream const here = this->NewStream();
  ASSERT_OK(TypeParam::UseDevice(1));
  CUstream const there = this->NewStream();
  EXPECT_CODE(CUDA_ERROR_INVALID_HANDLE, TypeParam::EventRecord(event, there));
  EXPECT_OK(TypeParam::EventRecord(event, here));
  EXPECT_OK(TypeParam::StreamWaitEvent(there, event)) << "waits may cross devices";
  EXPECT_OK(TypeParam::StreamSynchronize(there));
  EXPECT_OK(TypeParam::StreamDestroy(there));
  ASSERT_OK(TypeParam::UseDevice(0));
  EXPECT_OK(TypeParam::StreamDestroy(here));
  EXPECT_OK(TypeParam::EventDestroy(event));
}

}  // namespace cuheap::contract
