#include "tests/sim/standins/cudnn_graph.h"

#include <algorithm>
#include <mutex>
#include <set>
#include <unordered_map>
#include <utility>

#include "tests/sim/standins/cudnn_attributes.h"
#include "tests/sim/standins/cudnn_descriptors.h"

namespace cuheap::sim_standin {
namespace {

struct Registry {
  std::mutex mutex;
  std::unordered_map<Handle, GraphDescriptorPtr> live;
};

Registry& TheRegistry() {
  static auto& registry = *new Registry;
  return registry;
}

using Addresses = std::map<std::int64_t, const void*>;

Addresses AddressesOf(const GraphDescriptor& pack) {
  Addresses addresses;
  const auto uids = pack.numbers.find(kPackUids);
  const auto data = pack.pointers.find(kPackPointers);
  if (uids == pack.numbers.end() || data == pack.pointers.end()) return addresses;
  const std::size_t count = std::min(uids->second.size(), data->second.size());
  for (std::size_t i = 0; i < count; ++i) addresses[uids->second[i]] = data->second[i];
  return addresses;
}

bool IsNamed(const GraphDescriptor& tensor) {
  return tensor.Number(kTensorIsVirtual, 0) == 0 && tensor.Number(kTensorIsByValue, 0) == 0 &&
         !tensor.descriptors.contains(kTensorRaggedOffset);
}

// Walks over descriptors and collects their tensors.
class Walk {
 public:
  Walk(const Addresses& addresses, Touched* touched) : addresses_(addresses), touched_(touched) {}

  void Visit(const GraphDescriptor& descriptor) {
    if (!seen_.insert(&descriptor).second) return;
    for (const auto& [attribute, list] : descriptor.descriptors) {
      for (const GraphDescriptorPtr& other : list) {
        if (other->type == kTensorDescriptor) {
          Name(IsWrittenAttribute(attribute) ? Access::kWrite : Access::kRead, *other);
        } else {
          Visit(*other);
        }
      }
    }
  }

 private:
  void Name(Access access, const GraphDescriptor& tensor) {
    const auto address = addresses_.find(tensor.Number(kTensorUid, -1));
    if (address == addresses_.end() || !IsNamed(tensor)) return;
    const auto sizes = tensor.numbers.find(kTensorDimensions);
    const auto strides = tensor.numbers.find(kTensorStrides);
    if (sizes == tensor.numbers.end() || strides == tensor.numbers.end()) return;
    std::vector<Extent> extents;
    const std::size_t dimensions = std::min(sizes->second.size(), strides->second.size());
    for (std::size_t i = 0; i < dimensions; ++i)
      extents.push_back({sizes->second[i], strides->second[i]});
    const int type = static_cast<int>(tensor.Number(kTensorDataType, -1));
    touched_->Box(access, address->second, std::move(extents), BitsOfElement(type));
  }

  const Addresses& addresses_;
  Touched* touched_;
  std::set<const GraphDescriptor*> seen_;
};

}  // namespace

std::int64_t GraphDescriptor::Number(int attribute, std::int64_t otherwise) const {
  const auto found = numbers.find(attribute);
  return found == numbers.end() || found->second.empty() ? otherwise : found->second[0];
}

Handle NewGraphDescriptor(int type) {
  auto descriptor = std::make_shared<GraphDescriptor>();
  descriptor->type = type;
  const Handle handle = descriptor.get();
  const std::lock_guard lock(TheRegistry().mutex);
  TheRegistry().live[handle] = std::move(descriptor);
  return handle;
}

void DeleteGraphDescriptor(Handle handle) {
  GraphDescriptorPtr last;  // dies outside the lock
  const std::lock_guard lock(TheRegistry().mutex);
  const auto found = TheRegistry().live.find(handle);
  if (found == TheRegistry().live.end()) return;
  last = std::move(found->second);
  TheRegistry().live.erase(found);
}

GraphDescriptorPtr FindGraphDescriptor(Handle handle) {
  const std::lock_guard lock(TheRegistry().mutex);
  const auto found = TheRegistry().live.find(handle);
  return found == TheRegistry().live.end() ? nullptr : found->second;
}

Touched TouchedByPlan(const GraphDescriptor& plan, const GraphDescriptor& pack,
                      std::uint64_t workspace_bytes) {
  Touched touched;
  const Addresses addresses = AddressesOf(pack);
  Walk(addresses, &touched).Visit(plan);
  const auto workspace = pack.pointers.find(kPackWorkspace);
  if (workspace != pack.pointers.end() && !workspace->second.empty())
    touched.Bytes(Access::kWrite, workspace->second[0], workspace_bytes);
  return touched;
}

}  // namespace cuheap::sim_standin
