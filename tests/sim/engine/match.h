// One callable out of several, for std::visit.
#pragma once

namespace cuheap::sim {

template <class... Handlers>
struct Match : Handlers... {
  using Handlers::operator()...;
};
template <class... Handlers>
Match(Handlers...) -> Match<Handlers...>;

}  // namespace cuheap::sim
