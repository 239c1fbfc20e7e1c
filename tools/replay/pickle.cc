#include "tools/replay/pickle.h"

#include "tools/replay/pickle_machine.h"

namespace cuheap::replay {

Result<Pickle> Pickle::Read(std::string_view bytes) { return PickleMachine(bytes).Run(); }

std::optional<std::uint64_t> Pickle::Integer(Handle value) const {
  const bool whole = kind(value) == PickleKind::kInteger || kind(value) == PickleKind::kBoolean;
  return whole ? std::optional(values_[value].integer) : std::nullopt;
}

std::optional<std::string_view> Pickle::Text(Handle value) const {
  return kind(value) == PickleKind::kText ? std::optional(values_[value].text) : std::nullopt;
}

const std::vector<Pickle::Handle>& Pickle::Items(Handle sequence) const {
  static const std::vector<Handle> none;
  return kind(sequence) == PickleKind::kSequence ? containers_[values_[sequence].container] : none;
}

std::optional<Pickle::Handle> Pickle::Find(Handle dictionary, std::string_view key) const {
  if (kind(dictionary) != PickleKind::kDictionary) return {};
  const std::vector<Handle>& entries = containers_[values_[dictionary].container];
  for (std::size_t i = entries.size(); i >= 2; i -= 2)
    if (Text(entries[i - 2]) == key) return entries[i - 1];
  return {};
}

}  // namespace cuheap::replay
