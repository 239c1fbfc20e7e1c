// Names and descriptions of error codes.
#include <algorithm>
#include <cctype>
#include <map>
#include <string>

#include "tests/sim/driver/support.h"

namespace cuheap::sim {
namespace {

struct ErrorText {
  const char* name;
  std::string description;
};

// Where the words of the name are not what the driver says.
const std::map<int, const char*>& Descriptions() {
  static const auto& map = *new std::map<int, const char*>{
      {CUDA_SUCCESS, "no error"},
      {CUDA_ERROR_INVALID_VALUE, "invalid argument"},
      {CUDA_ERROR_NOT_INITIALIZED, "initialization error"},
      {CUDA_ERROR_DEINITIALIZED, "driver shutting down"},
      {CUDA_ERROR_NO_DEVICE, "no CUDA-capable device is detected"},
      {CUDA_ERROR_INVALID_DEVICE, "invalid device ordinal"},
      {CUDA_ERROR_INVALID_CONTEXT, "invalid device context"},
      {CUDA_ERROR_INVALID_HANDLE, "invalid resource handle"},
      {CUDA_ERROR_ILLEGAL_STATE, "the operation cannot be performed in the present state"},
      {CUDA_ERROR_NOT_FOUND, "named symbol not found"},
      {CUDA_ERROR_NOT_READY, "device not ready"},
      {CUDA_ERROR_ILLEGAL_ADDRESS, "an illegal memory access was encountered"},
      {CUDA_ERROR_NOT_SUPPORTED, "operation not supported"},
      {CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, "operation not permitted when stream is capturing"},
      {CUDA_ERROR_STREAM_CAPTURE_INVALIDATED,
       "operation failed due to a previous error during capture"},
      {CUDA_ERROR_STREAM_CAPTURE_UNJOINED, "capturing stream has unjoined work"},
      {CUDA_ERROR_STREAM_CAPTURE_IMPLICIT,
       "operation would make the legacy stream depend on a capturing blocking stream"},
      {CUDA_ERROR_CAPTURED_EVENT,
       "operation not permitted on an event last recorded in a capturing stream"},
  };
  return map;
}

std::string Describe(const std::string& name, int code) {
  const auto found = Descriptions().find(code);
  if (found != Descriptions().end()) return found->second;
  std::string words = name.substr(name.find("ERROR_") == std::string::npos ? 5 : 11);
  std::transform(words.begin(), words.end(), words.begin(), [](unsigned char letter) {
    return letter == '_' ? ' ' : static_cast<char>(std::tolower(letter));
  });
  return words;
}

const ErrorText* Find(int code) {
  static const auto& texts = []() -> const std::map<int, ErrorText>& {
    auto& map = *new std::map<int, ErrorText>;
#define ERROR(name, value) map.emplace(value, ErrorText{#name, Describe(#name, value)});
#include "error_names.inc"
#undef ERROR
    return map;
  }();
  const auto found = texts.find(code);
  return found == texts.end() ? nullptr : &found->second;
}

}  // namespace

CUresult face::GetErrorName(CUresult error, const char** out) {
  CUHEAP_SIM_TRY(NeedPointers(out));
  const ErrorText* text = Find(error);
  *out = text == nullptr ? nullptr : text->name;
  return text == nullptr ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

CUresult face::GetErrorString(CUresult error, const char** out) {
  CUHEAP_SIM_TRY(NeedPointers(out));
  const ErrorText* text = Find(error);
  *out = text == nullptr ? nullptr : text->description.c_str();
  return text == nullptr ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

}  // namespace cuheap::sim
