#include "tools/replay/policy.h"

namespace cuheap::replay {

#define CUHEAP_POLICY(name, maker, what) std::unique_ptr<Policy> maker(Driver& driver);
#include "tools/replay/policies.def"
#undef CUHEAP_POLICY

std::span<const PolicyKind> Policies() {
  static constexpr PolicyKind kPolicies[] = {
#define CUHEAP_POLICY(name, maker, what) {#name, what, maker},
#include "tools/replay/policies.def"
#undef CUHEAP_POLICY
  };
  return kPolicies;
}

const PolicyKind* FindPolicy(std::string_view name) {
  for (const PolicyKind& policy : Policies())
    if (name == policy.name) return &policy;
  return nullptr;
}

}  // namespace cuheap::replay
