#include "allocator/frontend/owners.h"

#include <string_view>

namespace cuheap {
namespace {

std::string_view BaseName(std::string_view path) { return path.substr(path.rfind('/') + 1); }

}  // namespace

std::uint32_t Owners::Intern(std::uint64_t pc, Ledger* ledger) {
  capture::Module module;
  if (!capture::FindModule(pc, &module)) return 0;
  std::uint32_t place = 0;
  for (std::uint32_t i = first_valid_; i < count_ && place == 0; ++i) {
    const capture::Module& known = owners_[i].module;
    if (known.link_map == module.link_map && known.map_begin == module.map_begin) place = i;
  }
  if (place == 0) place = Add(module, ledger);
  cache_[PlaceOf(pc)].store(pc << kPlaceBits | place, std::memory_order_release);
  return place;
}

std::uint32_t Owners::Add(const capture::Module& module, Ledger* ledger) {
  if (count_ == kMost) return 0;
  char text[1024];
  const std::string_view path = capture::ModulePath(module, text);
  Owner& owner = owners_[count_];
  owner.module = module;
  owner.id = ledger->InternModule(path, capture::ModuleBuildId(module), module.load_bias,
                                  module.map_begin, module.map_end);
  owner.is_torch_allocator = BaseName(path) == "libc10_cuda.so";
  return count_++;
}

void Owners::Forget() {
  for (auto& word : cache_) word.store(0, std::memory_order_relaxed);
  first_valid_ = count_;
}

}  // namespace cuheap
