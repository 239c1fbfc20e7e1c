// Numbers of the backend interface of cuDNN: of attributes (cudnnBackendAttributeName_t), of their
// types and of descriptors.
#pragma once

#include <algorithm>
#include <iterator>

namespace cuheap::sim_standin {

enum GraphAttribute {
  kHeuristicGraph = 201,
  kHeuristicResults = 202,
  kConfigEngine = 300,
  kConfigIntermediateInfo = 301,
  kConfigKnobChoices = 302,
  kConfigWorkspaceSize = 303,
  kConfigSharedMemoryUsed = 304,
  kPlanWorkspaceSize = 402,
  kPlanIntermediateUids = 403,
  kTensorDataType = 901,
  kTensorDimensions = 902,
  kTensorStrides = 903,
  kTensorUid = 906,
  kTensorIsVirtual = 907,
  kTensorIsByValue = 908,
  kTensorRaggedOffset = 913,
  kPackUids = 1000,
  kPackPointers = 1001,
  kPackWorkspace = 1003,
  kEngineGraph = 1300,
  kEngineGlobalIndex = 1301,
  kEngineKnobInfo = 1302,
  kEngineNumericalNote = 1303,
  kEngineLayoutInfo = 1304,
  kEngineBehaviorNote = 1305,
};

inline constexpr int kTensorDescriptor = 17;

// cudnnBackendAttributeType_t, those that are not numbers of 4 bytes.
inline constexpr int kTypeHandle = 0;
inline constexpr int kTypeBoolean = 2;
inline constexpr int kTypeInt64 = 3;
inline constexpr int kTypeDouble = 5;
inline constexpr int kTypePointer = 6;
inline constexpr int kTypeDescriptor = 15;
inline constexpr int kTypeChar = 24;
inline constexpr int kTypeFraction = 26;

// Whether an operation writes the tensor that it has under this attribute. Others are read.
inline bool IsWrittenAttribute(int attribute) {
  constexpr int kWritten[] = {
      705,  710,  715,                    // convolutions: y, dx, dw
      753,  756,                          // pointwise: y, dx
      773,  774,                          // statistics: sum, sum of squares
      788,  789,  790,  791,  792,  793,  // their end: running and saved ones
      1522, 1611,                         // product, reduction
      1626, 1627, 1628, 1629, 1630,       // backward of batch normalisation
      1711, 1712, 1720, 1803, 1904,       // resampling, concatenation, signal
      2003, 2004, 2011, 2012, 2013,       // normalisation: statistics and y
      2107, 2108, 2109,                   // its backward: scale, bias, dx
      2201, 2310,                         // reshaping, random numbers
      2803, 2804,                         // attention: output, statistics
      2859, 2860, 2861,                   // its backward: query, key, value
  };
  return std::find(std::begin(kWritten), std::end(kWritten), attribute) != std::end(kWritten);
}

}  // namespace cuheap::sim_standin
