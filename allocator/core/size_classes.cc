#include "allocator/core/size_classes.h"

#include <cinttypes>

namespace cuheap::core {
namespace {

// The rules that every embedder gets must hold where they are compiled.
constexpr SizeClasses kDefault;
static_assert(kDefault.SizeOf(kDefault.Of(1_B)) == 512_B);
static_assert(kDefault.SizeOf(kDefault.Of(1_MiB)) == 1_MiB);

// Of the sizes in (below, size].
const char* FirstBrokenOf(const SizeClasses& classes, SizeClass size_class, Bytes below) {
  const Bytes size = classes.SizeOf(size_class);
  const std::uint64_t granule = std::uint64_t{1} << classes.rules().granule_log2;
  if (size <= below || size.count() % granule != 0) return "law 2: sizes grow, in whole granules";
  if (classes.Of(below + 1_B) != size_class || classes.Of(size) != size_class)
    return "law 1: the least class that holds a size";
  const std::uint64_t rounding = (size - below).count() - 1;
  const bool by_steps = size.count() > granule << classes.rules().steps_log2;
  if (by_steps && rounding << classes.rules().steps_log2 >= size.count())
    return "law 3: rounding is bounded";
  return nullptr;
}

}  // namespace

const char* SizeClasses::Validate() const {
  if (!std::has_single_bit(rules_.largest.count())) return "the largest size is a power of two";
  const std::uint32_t fewest = rules_.fewest_in_slab;
  if (fewest == 0 || fewest > kMostInSlab) return "a slab has 1 to 128 blocks";
  Bytes below;
  for (std::uint32_t i = 0; i < count(); ++i) {
    const char* broken = FirstBrokenOf(*this, SizeClass(i), below);
    if (broken != nullptr) return broken;
    below = SizeOf(SizeClass(i));
  }
  return below == rules_.largest ? nullptr : "the last class is the largest size";
}

void SizeClasses::Print(std::FILE* out) const {
  std::fprintf(out, "%5s %10s %9s %9s %7s %10s\n", "class", "bytes", "step", "rounding", "blocks",
               "slab");
  Bytes below;
  for (std::uint32_t i = 0; i < count(); ++i) {
    const Bytes size = SizeOf(SizeClass(i));
    const std::uint64_t step = (size - below).count();
    std::fprintf(out, "%5u %10" PRIu64 " %9" PRIu64 " %8.1f%% %7u %10" PRIu64 "\n", i, size.count(),
                 step, 100.0 * static_cast<double>(step - 1) / static_cast<double>(size.count()),
                 BlocksInSlab(SizeClass(i)), SlabOf(SizeClass(i)).count());
    below = size;
  }
}

}  // namespace cuheap::core
