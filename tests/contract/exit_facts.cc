// Facts about frees while the process ends. The answer is written by the handler itself.
#include <cstdio>
#include <cstdlib>

#include "tests/contract/fact_answers.h"

namespace cuheap::contract {
namespace {

void* block = nullptr;
const char* fact = nullptr;

void Free() {
  std::printf("%s\t%s\n", fact, Say(Runtime().cudaFree(block)).c_str());
  std::fflush(stdout);
}

// Ends the process here, so that nothing else is printed as the answer.
[[noreturn]] void EndWithBlock(const char* name) {
  fact = name;
  Runtime().cudaMalloc(&block, 4096);
  std::exit(0);
}

struct FreesInDestructor {
  ~FreesInDestructor() { Free(); }
};

}  // namespace

std::string Answer_free_in_exit_handler() {
  if (!RuntimeIsThere()) return "no runtime here";
  std::atexit(Free);
  EndWithBlock("free_in_exit_handler");
}

std::string Answer_free_in_late_exit_handler() {
  if (!RuntimeIsThere()) return "no runtime here";
  void* first = nullptr;
  Runtime().cudaMalloc(&first, 4096);
  std::atexit(Free);
  EndWithBlock("free_in_late_exit_handler");
}

std::string Answer_free_in_static_destructor() {
  if (!RuntimeIsThere()) return "no runtime here";
  static const FreesInDestructor object;
  EndWithBlock("free_in_static_destructor");
}

}  // namespace cuheap::contract
