#include "tools/cli/input.h"

#include <unistd.h>

#include <cstdio>

#include "allocator/base/environment.h"
#include "tools/cli/verbs.h"

namespace cuheap::cli {

int Complain(const Error& error) {
  std::fprintf(stderr, "cuheap: %s\n", error.message.c_str());
  return error.kind == ErrorKind::kAbsent ? kUsage : kBadInput;
}

bool UseColor(Color color) {
  if (color != Color::kAuto) return color == Color::kAlways;
  const char* no_color = EnvironmentValue("NO_COLOR");
  return (no_color == nullptr || *no_color == '\0') && isatty(STDOUT_FILENO) == 1;
}

void Print(const std::string& text) { std::fwrite(text.data(), 1, text.size(), stdout); }

}  // namespace cuheap::cli
