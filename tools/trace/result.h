// A value or the reason why there is none. Reading somebody's file fails in ordinary ways, so
// failures are values.
#pragma once

#include <string>
#include <utility>
#include <variant>

namespace cuheap {

enum class ErrorKind {
  kMissing,     // no such file
  kUnreadable,  // there, but the system refuses
  kEmpty,
  kForeign,  // not a trace
  kNewer,    // a trace of a newer major version
  kCorrupt,  // a trace whose structure contradicts itself
  kAbsent,   // the trace is fine, what was asked for is not in it
};

struct Error {
  ErrorKind kind;
  std::string message;  // one line, without a newline
};

template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}

  bool ok() const { return state_.index() == 0; }
  // REQUIRES: ok().
  T& operator*() { return std::get<0>(state_); }
  const T& operator*() const { return std::get<0>(state_); }
  T* operator->() { return &std::get<0>(state_); }
  const T* operator->() const { return &std::get<0>(state_); }
  // REQUIRES: !ok().
  const Error& error() const { return std::get<1>(state_); }

 private:
  std::variant<T, Error> state_;
};

}  // namespace cuheap
