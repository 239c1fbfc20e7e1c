// The backend (graph) interface of cuDNN: descriptors of operations, engines and plans that a
// program fills with attributes and asks for attributes. The stand-in offers one engine with one
// configuration and a plan with a work space; for every question it must say how many elements it
// answered with, since an attribute that counts zero is taken as absent.
#include "tests/sim/standins/standin.h"

using namespace cuheap::sim_standin;

namespace {

constexpr int kNotSupported = 3000;

// Attribute numbers of cudnnBackendAttributeName_t.
enum Attribute {
  kHeuristicResults = 202,
  kConfigEngine = 300,
  kConfigIntermediateInfo = 301,
  kConfigKnobChoices = 302,
  kConfigWorkspaceSize = 303,
  kConfigSharedMemoryUsed = 304,
  kPlanWorkspaceSize = 402,
  kPlanIntermediateUids = 403,
  kEngineGlobalIndex = 1301,
  kEngineKnobInfo = 1302,
  kEngineNumericalNote = 1303,
  kEngineLayoutInfo = 1304,
  kEngineBehaviorNote = 1305,
};

struct Descriptor {
  int type;
};

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

}  // namespace

CUHEAP_STANDIN int cudnnBackendCreateDescriptor(int type, Handle* descriptor) {
  *descriptor = new Descriptor{type};
  return 0;
}
CUHEAP_STANDIN int cudnnBackendDestroyDescriptor(Handle descriptor) {
  return Destroy<Descriptor>(descriptor);
}

CUHEAP_STANDIN int cudnnBackendGetAttribute(Handle, int attribute, int, std::int64_t,
                                            std::int64_t* counted, void* elements) {
  switch (attribute) {
    case kHeuristicResults:  // the caller's own descriptors are filled in: the first one, as it is
    case kConfigEngine:
      return Answer(1, counted);
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
