// Compiled with all ABIs visible, so that each name means the entry of that name.
#include "tests/sim/tests/every_entry.h"

#include <cstring>
#include <tuple>
#include <type_traits>

namespace cuheap::sim {
namespace {

constexpr std::size_t kMostArguments = 24;
constexpr std::size_t kRoom = 8192;

alignas(64) unsigned char scratch[kMostArguments][kRoom];

template <class Result, class... Arguments>
Result DoNothing(Arguments...) {
  return Result();
}

template <class Pointee>
struct Function;
template <class Result, class... Arguments>
struct Function<Result(Arguments...)> {
  static Result (*Get())(Arguments...) { return &DoNothing<Result, Arguments...>; }
};

// Hands out arguments from the left to the right.
class Hand {
 public:
  explicit Hand(std::size_t null) : null_(null) {}

  template <class Argument>
  Argument Give() {
    const std::size_t place = given_++;
    if constexpr (std::is_pointer_v<Argument>) {
      if (pointers_++ == null_) return nullptr;
      using Pointee = std::remove_pointer_t<Argument>;
      if constexpr (std::is_function_v<Pointee>) {
        return Function<Pointee>::Get();
      } else {
        return reinterpret_cast<Argument>(const_cast<unsigned char*>(scratch[place]));
      }
    } else {
      return Argument{};
    }
  }

 private:
  const std::size_t null_;
  std::size_t given_ = 0;
  std::size_t pointers_ = 0;
};

template <class... Arguments>
CUresult CallWithZeroes(CUresult (*function)(Arguments...)) {
  return function(Arguments{}...);
}

template <class... Arguments>
CUresult CallWithOneNull(CUresult (*function)(Arguments...), std::size_t null) {
  std::memset(scratch, 0, sizeof scratch);
  Hand hand(null);
  const std::tuple<Arguments...> arguments{hand.Give<Arguments>()...};
  return std::apply(function, arguments);
}

template <class... Arguments>
EveryEntry Entry(const char* symbol, CUresult (*function)(Arguments...)) {
  EveryEntry entry;
  entry.symbol = symbol;
  entry.pointers = (std::size_t{0} + ... + (std::is_pointer_v<Arguments> ? 1 : 0));
  entry.call_with_zeroes = [function] { return CallWithZeroes(function); };
  entry.call_with_one_null = [function](std::size_t null) {
    return CallWithOneNull(function, null);
  };
  return entry;
}

}  // namespace

std::vector<EveryEntry> EveryEntries() {
  return {
#define ENTRY(name, version, per_thread, symbol) Entry(#symbol, &symbol),
#include "entry_table.inc"
#undef ENTRY
  };
}

}  // namespace cuheap::sim
