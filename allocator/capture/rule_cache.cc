#include "allocator/capture/rule_cache.h"

namespace cuheap::capture {

constinit RuleCache rule_cache;

}  // namespace cuheap::capture
