#include "allocator/frontend/process_life.h"

#include <gtest/gtest.h>

namespace cuheap {
namespace {

TEST(ProcessLifeTest, LoadedObjectsAreCounted) { EXPECT_GT(CountLoadedObjects().loads, 0u); }

}  // namespace
}  // namespace cuheap
