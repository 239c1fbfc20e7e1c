#include "tests/tools/shell.h"

#include <sys/wait.h>

#include <cstdlib>

#include "tests/tools/trace_maker.h"

namespace cuheap {

Ran Shell(const std::string& folder, const std::string& line) {
  const std::string full = "cd '" + folder + "' && { " + line + "\n} >out.txt 2>err.txt";
  const int status = std::system(full.c_str());
  return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status),
          ReadBytes(folder + "/out.txt"), ReadBytes(folder + "/err.txt")};
}

}  // namespace cuheap
