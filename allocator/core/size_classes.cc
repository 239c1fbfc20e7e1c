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
  if (!classes.HasSlabs(size_class)) return nullptr;
  const std::uint32_t blocks = classes.BlocksInSlab(size_class);
  if (blocks < classes.rules().fewest_in_slab || blocks > SizeClasses::kMostInSlab)
    return "a slab has enough blocks, and at most 128";
  const Bytes tail = classes.SlabOf(size_class) - Bytes(blocks * size.count());
  if (tail.count() * SizeClasses::kMostTail > classes.SlabOf(size_class).count())
    return "law 4: the tail of a slab is short";
  return nullptr;
}

}  // namespace

const char* SizeClasses::Validate() const {
  if (!std::has_single_bit(rules_.largest.count())) return "the largest size is a power of two";
  if (!std::has_single_bit(rules_.slab_unit.count())) return "a slab unit is a power of two";
  if (rules_.shared > rules_.slab_unit)
    return "blocks that stand alone begin in units of their own";
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
    const auto size_class = SizeClass(i);
    const Bytes size = SizeOf(size_class);
    const std::uint64_t step = (size - below).count();
    const double rounding = static_cast<double>(step - 1) / static_cast<double>(size.count());
    const bool slabs = HasSlabs(size_class);
    std::fprintf(out, "%5u %10" PRIu64 " %9" PRIu64 " %8.1f%% %7u %10" PRIu64 "\n", i, size.count(),
                 step, 100.0 * rounding, slabs ? BlocksInSlab(size_class) : 1,
                 slabs ? SlabOf(size_class).count() : size.count());
    below = size;
  }
}

}  // namespace cuheap::core
