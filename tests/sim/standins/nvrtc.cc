// NVRTC: every program compiles, to an image that the simulated driver takes for code without
// content.
#include <string>
#include <vector>

#include "tests/sim/standins/standin.h"

using namespace cuheap::sim_standin;

namespace {

constexpr char kImage[8] = {};

struct Program {
  std::vector<std::string> names;
};

int CopyImage(char* image) {
  std::memcpy(image, kImage, sizeof kImage);
  return 0;
}

int SizeOfImage(std::size_t* bytes) {
  *bytes = sizeof kImage;
  return 0;
}

}  // namespace

CUHEAP_STANDIN int nvrtcVersion(int* major, int* minor) {
  *major = 13;
  *minor = 2;
  return 0;
}
CUHEAP_STANDIN const char* nvrtcGetErrorString(int status) {
  return status == 0 ? "NVRTC_SUCCESS" : "NVRTC_ERROR_INTERNAL_ERROR";
}
CUHEAP_STANDIN int nvrtcCreateProgram(Handle* program, const char*, const char*, int,
                                      const char* const*, const char* const*) {
  return Create<Program>(program);
}
CUHEAP_STANDIN int nvrtcDestroyProgram(Handle* program) {
  Destroy<Program>(*program);
  *program = nullptr;
  return 0;
}
CUHEAP_STANDIN int nvrtcAddNameExpression(Handle program, const char* name) {
  static_cast<Program*>(program)->names.emplace_back(name);
  return 0;
}

// The lowered name of an expression is the expression: the driver compares nothing else.
CUHEAP_STANDIN int nvrtcGetLoweredName(Handle program, const char* name, const char** lowered) {
  constexpr int kNameNotValid = 10;
  for (const std::string& known : static_cast<Program*>(program)->names) {
    if (known != name) continue;
    *lowered = known.c_str();
    return 0;
  }
  return kNameNotValid;
}
CUHEAP_STANDIN int nvrtcGetCUBINSize(Handle, std::size_t* bytes) { return SizeOfImage(bytes); }
CUHEAP_STANDIN int nvrtcGetCUBIN(Handle, char* image) { return CopyImage(image); }
CUHEAP_STANDIN int nvrtcGetPTXSize(Handle, std::size_t* bytes) { return SizeOfImage(bytes); }
CUHEAP_STANDIN int nvrtcGetPTX(Handle, char* image) { return CopyImage(image); }
CUHEAP_STANDIN int nvrtcGetProgramLogSize(Handle, std::size_t* bytes) {
  *bytes = 1;
  return 0;
}
CUHEAP_STANDIN int nvrtcGetProgramLog(Handle, char* log) {
  *log = '\0';
  return 0;
}
