// Green contexts and events of whole contexts. What orders the work is what the manual clock shows.
#include "tests/sim/tests/queued_work.h"

namespace cuheap::sim {
namespace {

class GreenContextTest : public QueuedWork {
 protected:
  static CUdevResource Whole() {
    CUdevResource whole{};
    EXPECT_CUDA(cuDeviceGetDevResource(0, &whole, CU_DEV_RESOURCE_TYPE_SM));
    return whole;
  }
  static CUgreenCtx NewGreen(unsigned multiprocessors) {
    CUdevResource part{};
    const CUdevResource whole = Whole();
    unsigned groups = 1;
    EXPECT_CUDA(cuDevSmResourceSplitByCount(&part, &groups, &whole, nullptr, 0, multiprocessors));
    CUdevResourceDesc description = nullptr;
    EXPECT_CUDA(cuDevResourceGenerateDesc(&description, &part, 1));
    CUgreenCtx green = nullptr;
    EXPECT_CUDA(cuGreenCtxCreate(&green, description, 0, CU_GREEN_CTX_DEFAULT_STREAM));
    return green;
  }
  static CUcontext ContextOf(CUgreenCtx green) {
    CUcontext context = nullptr;
    EXPECT_CUDA(cuCtxFromGreenCtx(&context, green));
    return context;
  }
  static CUstream StreamOf(CUgreenCtx green) {
    CUstream stream = nullptr;
    EXPECT_CUDA(cuGreenCtxStreamCreate(&stream, green, CU_STREAM_NON_BLOCKING, 0));
    return stream;
  }
};

TEST_F(GreenContextTest, ADeviceSplitsIntoEqualGroupsAndARest) {
  CUdevResource whole = Whole();
  ASSERT_EQ(132U, whole.sm.smCount);
  unsigned groups = 0;
  EXPECT_CUDA(cuDevSmResourceSplitByCount(nullptr, &groups, &whole, nullptr, 0, 10));
  EXPECT_EQ(8U, groups);
  CUdevResource parts[8];
  CUdevResource rest{};
  EXPECT_CUDA(cuDevSmResourceSplitByCount(parts, &groups, &whole, &rest, 0, 10));
  EXPECT_EQ(16U, parts[7].sm.smCount);
  EXPECT_EQ(4U, rest.sm.smCount);
  groups = 2;
  EXPECT_CUDA(cuDevSmResourceSplitByCount(parts, &groups, &whole, &rest, 0, 16));
  EXPECT_EQ(100U, rest.sm.smCount);
  groups = 8;
  EXPECT_CUDA(cuDevSmResourceSplitByCount(parts, &groups, &whole, nullptr,
                                          CU_DEV_SM_RESOURCE_SPLIT_IGNORE_SM_COSCHEDULING, 5));
  EXPECT_EQ(6U, parts[0].sm.smCount);
}

TEST_F(GreenContextTest, SplitsAndDescriptionsCheckWhereResourcesComeFrom) {
  CUdevResource whole = Whole();
  CUdevResource parts[2];
  CUdevResource others[1];
  unsigned groups = 2;
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE,
            cuDevSmResourceSplitByCount(parts, &groups, &whole, nullptr, 0, 133));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE,
            cuDevSmResourceSplitByCount(parts, &groups, &whole, nullptr, 4, 8));
  ASSERT_CUDA(cuDevSmResourceSplitByCount(parts, &groups, &whole, nullptr, 0, 16));
  EXPECT_EQ(CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION,
            cuDevSmResourceSplitByCount(others, &groups, &parts[0], nullptr, 0, 8));
  groups = 1;
  ASSERT_CUDA(cuDevSmResourceSplitByCount(others, &groups, &whole, nullptr, 0, 8));
  CUdevResource mixed[] = {parts[0], others[0]};
  CUdevResourceDesc description = nullptr;
  EXPECT_EQ(CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION,
            cuDevResourceGenerateDesc(&description, mixed, 2));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuDevResourceGenerateDesc(&description, parts, 0));
  mixed[0].type = CU_DEV_RESOURCE_TYPE_INVALID;
  EXPECT_EQ(CUDA_ERROR_INVALID_RESOURCE_TYPE, cuDevResourceGenerateDesc(&description, mixed, 1));
  EXPECT_EQ(nullptr, description);
  EXPECT_CUDA(cuDevResourceGenerateDesc(&description, parts, 2));
  CUgreenCtx green = nullptr;
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuGreenCtxCreate(&green, description, 0, 0));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE,
            cuGreenCtxCreate(&green, description, 1, CU_GREEN_CTX_DEFAULT_STREAM));
  EXPECT_EQ(nullptr, green);
}

TEST_F(GreenContextTest, MemoryAndEventsAreThePrimaryContextsAndStreamsAreItsOwn) {
  const CUgreenCtx green = NewGreen(16);
  CUdevResource mine{};
  EXPECT_CUDA(cuCtxGetDevResource(ContextOf(green), &mine, CU_DEV_RESOURCE_TYPE_SM));
  EXPECT_EQ(16U, mine.sm.smCount);
  ASSERT_CUDA(cuCtxPushCurrent(ContextOf(green)));
  const CUdeviceptr block = Alloc(4096);
  CUstream stream = nullptr;
  ASSERT_CUDA(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  CUgreenCtx found = nullptr;
  EXPECT_CUDA(cuStreamGetGreenCtx(stream, &found));
  EXPECT_EQ(green, found);
  EXPECT_CUDA(cuStreamGetGreenCtx(nullptr, &found));
  EXPECT_EQ(green, found);
  CUcontext context = nullptr;
  EXPECT_CUDA(cuStreamGetCtx_v2(stream, &context, &found));
  EXPECT_EQ(context_, context);
  EXPECT_EQ(CUDA_ERROR_INVALID_HANDLE, cuStreamQuery(CU_STREAM_PER_THREAD));
  EXPECT_CUDA(cuCtxPopCurrent(nullptr));
  const CUevent event = Record(NewStream());
  EXPECT_CUDA(cuEventRecord(event, stream));
  EXPECT_CUDA(cuStreamDestroy(stream));
  EXPECT_CUDA(cuGreenCtxDestroy(green));
  EXPECT_CUDA(cuMemFree(block));
  EXPECT_CUDA(cuStreamGetGreenCtx(NewStream(), &found));
  EXPECT_EQ(nullptr, found);
}

TEST_F(GreenContextTest, ItKeepsThePrimaryContextAndItsStreamsSayThatItIsGone) {
  const CUgreenCtx green = NewGreen(8);
  const CUstream stream = StreamOf(green);
  const CUcontext context = ContextOf(green);
  CUstream none = nullptr;
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuGreenCtxStreamCreate(&none, green, 0, 0));
  unsigned long long id = 0;
  unsigned long long next_id = 0;
  EXPECT_CUDA(cuGreenCtxGetId(green, &id));
  EXPECT_CUDA(cuGreenCtxGetId(NewGreen(8), &next_id));
  EXPECT_NE(id, next_id);
  EXPECT_EQ(CUDA_ERROR_INVALID_CONTEXT, cuGreenCtxGetId(nullptr, &id));
  EXPECT_CUDA(cuGreenCtxDestroy(green));
  EXPECT_EQ(CUDA_ERROR_CONTEXT_IS_DESTROYED, cuGreenCtxDestroy(green));
  EXPECT_EQ(CUDA_ERROR_CONTEXT_IS_DESTROYED, cuStreamQuery(stream));
  EXPECT_EQ(CUDA_ERROR_CONTEXT_IS_DESTROYED, cuStreamDestroy(stream));
  EXPECT_EQ(CUDA_ERROR_INVALID_CONTEXT, cuCtxSetCurrent(context));
  EXPECT_EQ(CUDA_ERROR_INVALID_CONTEXT, cuGreenCtxDestroy(nullptr));
}

TEST_F(GreenContextTest, StreamsSayThatItIsGoneAlsoIfItHeldThePrimaryContextAlone) {
  const CUgreenCtx green = NewGreen(8);
  const CUstream stream = StreamOf(green);
  EXPECT_CUDA(cuDevicePrimaryCtxRelease(0));
  EXPECT_CUDA(cuGreenCtxDestroy(green));
  EXPECT_EQ(CUDA_ERROR_CONTEXT_IS_DESTROYED, cuStreamQuery(stream));
  EXPECT_EQ(CUDA_ERROR_CONTEXT_IS_DESTROYED, cuStreamDestroy(stream));
  EXPECT_CUDA(cuDevicePrimaryCtxRetain(&context_, 0));
  EXPECT_CUDA(cuCtxSetCurrent(context_));
}

TEST_F(GreenContextTest, AnEventOfAContextComesAfterTheWorkOfAllItsStreams) {
  const CUdeviceptr block = Alloc(4096);
  const CUstream stream = NewStream();
  const CUstream green_stream = StreamOf(NewGreen(8));
  Write(stream, block);
  Write(green_stream, block + 1024);
  CUevent event = nullptr;
  ASSERT_CUDA(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
  EXPECT_CUDA(cuCtxRecordEvent(context_, event));
  const CUstream reader = NewStream();
  Wait(reader, event);
  Read(reader, block, 2048);
  EXPECT_CUDA(cuEventSynchronize(event));
  EXPECT_CUDA(cuCtxSynchronize());
  EXPECT_EQ(0U, cuheap_sim_races());
}

TEST_F(GreenContextTest, AWaitOfAContextHoldsItsStreamsAlsoThoseMadeLater) {
  const CUdeviceptr block = Alloc(4096);
  const CUstream writer = NewStream();
  Write(writer, block);
  const CUevent event = Record(writer);
  const CUstream early = NewStream();
  EXPECT_CUDA(cuCtxWaitEvent(context_, event));
  const CUstream late = NewStream();
  Read(early, block);
  Read(late, block);
  EXPECT_CUDA(cuCtxSynchronize());
  EXPECT_EQ(0U, cuheap_sim_races());
}

TEST_F(GreenContextTest, CapturedStreamsRefuseEventsOfTheirContext) {
  const CUstream stream = NewStream();
  CUevent event = nullptr;
  ASSERT_CUDA(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
  ASSERT_CUDA(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
  EXPECT_EQ(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, cuCtxRecordEvent(context_, event));
  CUgraph graph = nullptr;
  EXPECT_EQ(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, cuStreamEndCapture(stream, &graph));
  ASSERT_CUDA(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
  EXPECT_EQ(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, cuCtxWaitEvent(context_, event));
  EXPECT_EQ(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, cuStreamEndCapture(stream, &graph));
  CUcontext other = nullptr;
  ASSERT_CUDA(cuCtxCreate(&other, nullptr, 0, 0));
  EXPECT_EQ(CUDA_ERROR_INVALID_HANDLE, cuCtxRecordEvent(other, event));
  EXPECT_CUDA(cuCtxDestroy(other));
}

}  // namespace
}  // namespace cuheap::sim
