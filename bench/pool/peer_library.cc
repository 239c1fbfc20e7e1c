#include "bench/pool/peer_library.h"

#include <dlfcn.h>

#include <cstdio>

namespace cuheap::bench {

MakePeer OpenPeer(const std::filesystem::path& folder, const std::string& name) {
  const std::filesystem::path path = folder / ("libcuheap_bench_" + name + ".so");
  void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  void* const make = library != nullptr ? dlsym(library, "cuheap_bench_make_peer") : nullptr;
  if (make == nullptr) std::fprintf(stderr, "no peer '%s': %s\n", name.c_str(), dlerror());
  return reinterpret_cast<MakePeer>(make);
}

}  // namespace cuheap::bench
