// The backend (graph) interface of cuDNN: descriptors of operations, engines and plans that a
// program fills with attributes and asks for attributes. The stand-in offers one engine with one
// configuration and a plan with a work space; for every question it must say how many elements it
// answered with, since an attribute that counts zero is taken as absent.
#include "tests/sim/standins/cudnn_attributes.h"
#include "tests/sim/standins/cudnn_graph.h"
#include "tests/sim/standins/cudnn_work.h"

using namespace cuheap::sim_standin;

namespace {

constexpr int kBadParam = 2000;
constexpr int kNotSupported = 3000;

int Answer(std::int64_t count, std::int64_t* counted) {
  if (counted != nullptr) *counted = count;
  return 0;
}

template <typename T>
int AnswerWith(T value, std::int64_t* counted, void* elements) {
  if (elements != nullptr) std::memcpy(elements, &value, sizeof value);
  return Answer(1, counted);
}

int Unknown(int attribute) {
  static bool said[4096];
  char text[80];
  std::snprintf(text, sizeof text,
                "attribute %d of cudnnBackendGetAttribute is not known to the stand-in", attribute);
  if (attribute >= 0 && attribute < 4096) SayOnce(&said[attribute], text);
  return kNotSupported;
}

// The caller's own descriptor is filled in: it leads on to what the asked one knows, so that a plan
// made of it finds its operations.
int AnswerWithDescriptor(const GraphDescriptorPtr& asked, int via, int attribute,
                         std::int64_t requested, std::int64_t* counted, void* elements) {
  const auto known = asked->descriptors.find(via);
  if (requested > 0 && elements != nullptr && known != asked->descriptors.end()) {
    const GraphDescriptorPtr first = FindGraphDescriptor(*static_cast<Handle*>(elements));
    if (first != nullptr && first != asked) first->descriptors[attribute] = known->second;
  }
  return Answer(1, counted);
}

template <typename T>
std::vector<std::int64_t> Numbers(std::int64_t count, const void* elements) {
  std::vector<std::int64_t> numbers;
  for (std::int64_t i = 0; i < count; ++i)
    numbers.push_back(static_cast<std::int64_t>(static_cast<const T*>(elements)[i]));
  return numbers;
}

std::vector<GraphDescriptorPtr> Descriptors(std::int64_t count, const void* elements) {
  std::vector<GraphDescriptorPtr> list;
  for (std::int64_t i = 0; i < count; ++i) {
    GraphDescriptorPtr found = FindGraphDescriptor(static_cast<const Handle*>(elements)[i]);
    if (found != nullptr) list.push_back(std::move(found));
  }
  return list;
}

// Of the rest (scale factors, names) nothing depends here.
void Remember(GraphDescriptor* descriptor, int attribute, int type, std::int64_t count,
              const void* elements) {
  switch (type) {
    case kTypeDescriptor:
      descriptor->descriptors[attribute] = Descriptors(count, elements);
      return;
    case kTypePointer: {
      const auto* first = static_cast<void* const*>(elements);
      descriptor->pointers[attribute].assign(first, first + count);
      return;
    }
    case kTypeInt64:
      descriptor->numbers[attribute] = Numbers<std::int64_t>(count, elements);
      return;
    case kTypeBoolean:
      descriptor->numbers[attribute] = Numbers<bool>(count, elements);
      return;
    case kTypeHandle:
    case kTypeDouble:
    case kTypeChar:
    case kTypeFraction:
      return;
    default:
      descriptor->numbers[attribute] = Numbers<std::int32_t>(count, elements);
  }
}

}  // namespace

CUHEAP_STANDIN int cudnnBackendCreateDescriptor(int type, Handle* descriptor) {
  if (descriptor == nullptr) return kBadParam;
  *descriptor = NewGraphDescriptor(type);
  return 0;
}
CUHEAP_STANDIN int cudnnBackendDestroyDescriptor(Handle descriptor) {
  DeleteGraphDescriptor(descriptor);
  return 0;
}

CUHEAP_STANDIN int cudnnBackendSetAttribute(Handle handle, int attribute, int type,
                                            std::int64_t count, const void* elements) {
  const GraphDescriptorPtr descriptor = FindGraphDescriptor(handle);
  if (descriptor == nullptr || count < 0 || (count > 0 && elements == nullptr)) return kBadParam;
  Remember(descriptor.get(), attribute, type, count, elements);
  return 0;
}

CUHEAP_STANDIN int cudnnBackendGetAttribute(Handle handle, int attribute, int,
                                            std::int64_t requested, std::int64_t* counted,
                                            void* elements) {
  const GraphDescriptorPtr asked = FindGraphDescriptor(handle);
  if (asked == nullptr) return kBadParam;
  switch (attribute) {
    case kHeuristicResults:
      return AnswerWithDescriptor(asked, kHeuristicGraph, kEngineGraph, requested, counted,
                                  elements);
    case kConfigEngine:
      return AnswerWithDescriptor(asked, kEngineGraph, kEngineGraph, requested, counted, elements);
    case kConfigSharedMemoryUsed:
      return AnswerWith(std::int32_t{0}, counted, elements);
    case kPlanWorkspaceSize:
    case kConfigWorkspaceSize:
      return AnswerWith(static_cast<std::int64_t>(kWorkspaceBytes), counted, elements);
    case kEngineGlobalIndex:
      return AnswerWith(std::int64_t{0}, counted, elements);
    case kConfigIntermediateInfo:
    case kConfigKnobChoices:
    case kPlanIntermediateUids:
    case kEngineKnobInfo:
    case kEngineNumericalNote:
    case kEngineLayoutInfo:
    case kEngineBehaviorNote:
      return Answer(0, counted);
    default:
      return Unknown(attribute);
  }
}

CUHEAP_STANDIN int cudnnBackendExecute(Handle handle, Handle plan, Handle pack) {
  const GraphDescriptorPtr planned = FindGraphDescriptor(plan);
  const GraphDescriptorPtr packed = FindGraphDescriptor(pack);
  if (handle == nullptr || planned == nullptr || packed == nullptr) return kBadParam;
  const Touched touched = TouchedByPlan(*planned, *packed, kWorkspaceBytes);
  const Stream stream = static_cast<Object*>(handle)->stream;
  return Enqueue(stream, "cudnnBackendExecute", touched) == 0 ? 0 : kCudnnExecutionFailed;
}
