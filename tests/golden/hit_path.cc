// Does pairs of a hot path, as many as it is told: hit_path.py counts their instructions.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "allocator/core/size_classes.h"
#include "allocator/core/slab.h"
#include "allocator/driver/accounting_driver.h"
#include "allocator/pool/pool.h"

namespace cuheap::golden {
namespace {

// The compiler must neither foresee a value nor drop what makes it.
template <class Value>
Value Opaque(Value value) {
  asm volatile("" : "+r"(value));
  return value;
}

void SlabPairs(std::uint64_t pairs) {
  const core::SizeClasses classes;
  core::Slab slab(Opaque(core::SizeClasses::kMostInSlab));
  for (std::uint64_t i = 0; i < pairs; ++i) {
    Opaque(Value(classes.Of(Bytes(Opaque(std::uint64_t{5000})))));
    if (!slab.Give(Opaque(slab.Take()))) std::abort();
  }
}

void PoolPairs(std::uint64_t pairs) {
  static AccountingDriver driver({});
  static pool::Pool pool;
  pool::Options options;
  options.identity = pool::StreamIdentity::kAnnounced;
  pool.Start(&driver, options);
  for (std::uint64_t i = 0; i < pairs; ++i) {
    Address block{};
    const pool::Request request{.bytes = Bytes(Opaque(std::uint64_t{5000})),
                                .stream = StreamHandle(Opaque(std::uint64_t{100}))};
    if (!pool.Allocate(request, &block).ok() || !pool.Free(Opaque(block)).ok()) std::abort();
  }
  pool.Shutdown();
}

struct Path {
  const char* name;
  void (*run)(std::uint64_t pairs);
};

constexpr Path kPaths[] = {{"slab", SlabPairs}, {"pool", PoolPairs}};

}  // namespace
}  // namespace cuheap::golden

int main(int count, char** words) {
  if (count == 3)
    for (const auto& [name, run] : cuheap::golden::kPaths)
      if (std::strcmp(name, words[1]) == 0) {
        run(std::strtoull(words[2], nullptr, 10));
        return 0;
      }
  std::fprintf(stderr, "usage: golden_hit_path PATH PAIRS\n");
  return 2;
}
