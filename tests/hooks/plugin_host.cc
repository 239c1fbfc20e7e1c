// Knows no CUDA: loads the plugin into a local scope, as Python loads its extensions. Without an
// argument it asks for cudaMalloc in a process that has no runtime at all.
#include <dlfcn.h>

#include <cstddef>
#include <cstdio>

int main(int count, char** arguments) {
  if (count == 2) {
    void* plugin = dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL);
    const auto allocate =
        reinterpret_cast<int (*)()>(plugin != nullptr ? dlsym(plugin, "plugin_allocate") : nullptr);
    std::printf("%d\n", allocate != nullptr ? allocate() : -1);
    return 0;
  }
  void* block = nullptr;
  const auto allocate =
      reinterpret_cast<int (*)(void**, std::size_t)>(dlsym(RTLD_DEFAULT, "cudaMalloc"));
  std::printf("%d\n", allocate != nullptr ? allocate(&block, 1) : 0);
  return 0;
}
