// The stack machine behind pickle.h: takes one pickle's instructions in their order.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tools/replay/pickle.h"

namespace cuheap::replay {

class PickleMachine {
 public:
  explicit PickleMachine(std::string_view bytes) : bytes_(bytes) {}

  Result<Pickle> Run();

 private:
  using Handle = Pickle::Handle;

  // Each gives false, with the complaint in wrong_, when the pickle cannot be meant.
  bool Step();
  bool StepText(unsigned char code);
  bool StepNumber(unsigned char code);
  bool StepContainer(unsigned char code);
  bool StepStack(unsigned char code);
  bool Refuse(unsigned char code);
  bool Wrong(std::string what);

  bool Take(std::uint64_t count, std::string_view* part);
  // A little-endian number of that many bytes, at most 8.
  bool TakeNumber(std::uint32_t bytes, std::uint64_t* number);
  bool Text(PickleKind kind, std::uint32_t length_bytes);
  bool Long(std::uint32_t length_bytes);

  bool Push(Pickle::Value value);
  bool PushContainer(PickleKind kind, std::size_t from);  // of what lies above `from`
  bool Last(std::size_t count);                           // the stack holds that many, above a mark
  bool PopMark(std::size_t* from);
  bool Extend(PickleKind kind, std::size_t from);  // the container below, by what lies above
  bool Remember(std::uint64_t index);
  bool Recall(std::uint64_t index);

  static constexpr Handle kNothing = ~Handle{0};

  std::string_view bytes_;
  std::size_t at_ = 0;
  std::size_t instruction_ = 0;  // its offset
  bool stopped_ = false;
  std::string wrong_;
  Pickle pickle_;
  std::vector<Handle> stack_;
  std::vector<std::size_t> marks_;  // heights of the stack
  std::vector<Handle> memo_;
};

}  // namespace cuheap::replay
