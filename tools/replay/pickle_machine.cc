#include "tools/replay/pickle_machine.h"

#include <fmt/format.h>

namespace cuheap::replay {
namespace {

// CPython's names; the numbers are the format's.
enum Code : unsigned char {
  kMark = '(',
  kStop = '.',
  kPop = '0',
  kPopMark = '1',
  kDup = '2',
  kBinFloat = 'G',
  kBinInt = 'J',
  kBinInt1 = 'K',
  kBinInt2 = 'M',
  kNone = 'N',
  kBinString = 'T',
  kShortBinString = 'U',
  kBinUnicode = 'X',
  kEmptyList = ']',
  kAppend = 'a',
  kAppends = 'e',
  kBinGet = 'h',
  kLongBinGet = 'j',
  kBinPut = 'q',
  kLongBinPut = 'r',
  kSetItem = 's',
  kTuple = 't',
  kEmptyTuple = ')',
  kSetItems = 'u',
  kEmptyDict = '}',
  kBinBytes = 'B',
  kShortBinBytes = 'C',
  kList = 'l',
  kDict = 'd',
  kProto = 0x80,
  kTuple1 = 0x85,
  kTuple2 = 0x86,
  kTuple3 = 0x87,
  kNewTrue = 0x88,
  kNewFalse = 0x89,
  kLong1 = 0x8a,
  kLong4 = 0x8b,
  kShortBinUnicode = 0x8c,
  kBinUnicode8 = 0x8d,
  kBinBytes8 = 0x8e,
  kEmptySet = 0x8f,
  kAddItems = 0x90,
  kFrozenSet = 0x91,
  kMemoize = 0x94,
  kFrame = 0x95,
  kByteArray8 = 0x96,
};

// Those that name, call or build objects: for a clear refusal.
const char* NameOfActor(unsigned char code) {
  switch (code) {
    case 'c':
      return "GLOBAL";
    case 0x93:
      return "STACK_GLOBAL";
    case 'R':
      return "REDUCE";
    case 'b':
      return "BUILD";
    case 'i':
      return "INST";
    case 'o':
      return "OBJ";
    case 0x81:
      return "NEWOBJ";
    case 0x92:
      return "NEWOBJ_EX";
    case 'P':
    case 'Q':
      return "PERSID";
    case 0x82:
    case 0x83:
    case 0x84:
      return "EXT";
    default:
      return nullptr;
  }
}

}  // namespace

Result<Pickle> PickleMachine::Run() {
  const bool has_protocol = bytes_.size() >= 2 && static_cast<unsigned char>(bytes_[0]) == kProto;
  if (!has_protocol) return Error{ErrorKind::kForeign, "not a pickle of protocol 2 or later"};
  if (bytes_[1] < 2 || bytes_[1] > 5)
    return Error{ErrorKind::kForeign, "a pickle of a protocol other than 2 to 5"};
  while (!stopped_)
    if (!Step()) return Error{ErrorKind::kCorrupt, wrong_};
  return std::move(pickle_);
}

bool PickleMachine::Wrong(std::string what) {
  wrong_ = fmt::format("offset {}: {}", instruction_, what);
  return false;
}

bool PickleMachine::Step() {
  instruction_ = at_;
  if (at_ >= bytes_.size()) return Wrong("the pickle is cut");
  const auto code = static_cast<unsigned char>(bytes_[at_++]);
  std::uint64_t ignored = 0;
  switch (code) {
    case kProto:
      return TakeNumber(1, &ignored);
    case kFrame:
      return TakeNumber(8, &ignored);
    case kStop:
      if (!Last(1)) return false;
      pickle_.root_ = stack_.back();
      stopped_ = true;
      return true;
    case kNone:
      return Push({.kind = PickleKind::kNone});
    case kNewTrue:
    case kNewFalse:
      return Push({.kind = PickleKind::kBoolean, .integer = code == kNewTrue});
    default:
      return StepNumber(code);
  }
}

bool PickleMachine::StepNumber(unsigned char code) {
  std::uint64_t number = 0;
  switch (code) {
    case kBinInt:
      if (!TakeNumber(4, &number)) return false;
      number = static_cast<std::uint64_t>(std::int64_t{static_cast<std::int32_t>(number)});
      break;
    case kBinInt1:
    case kBinInt2:
      if (!TakeNumber(code == kBinInt1 ? 1 : 2, &number)) return false;
      break;
    case kLong1:
    case kLong4:
      return Long(code == kLong1 ? 1 : 4);
    case kBinFloat:
      return TakeNumber(8, &number) && Push({.kind = PickleKind::kFloat, .integer = number});
    default:
      return StepText(code);
  }
  return Push({.kind = PickleKind::kInteger, .integer = number});
}

bool PickleMachine::StepText(unsigned char code) {
  switch (code) {
    case kShortBinUnicode:
    case kShortBinString:
      return Text(PickleKind::kText, 1);
    case kBinUnicode:
    case kBinString:
      return Text(PickleKind::kText, 4);
    case kBinUnicode8:
      return Text(PickleKind::kText, 8);
    case kShortBinBytes:
      return Text(PickleKind::kBytes, 1);
    case kBinBytes:
      return Text(PickleKind::kBytes, 4);
    case kBinBytes8:
    case kByteArray8:
      return Text(PickleKind::kBytes, 8);
    default:
      return StepContainer(code);
  }
}

bool PickleMachine::StepContainer(unsigned char code) {
  std::size_t from = stack_.size();
  switch (code) {
    case kEmptyList:
    case kEmptyTuple:
    case kEmptySet:
      return PushContainer(PickleKind::kSequence, from);
    case kEmptyDict:
      return PushContainer(PickleKind::kDictionary, from);
    case kTuple1:
    case kTuple2:
    case kTuple3: {
      const std::size_t count = code - kTuple1 + 1u;
      return Last(count) && PushContainer(PickleKind::kSequence, from - count);
    }
    case kTuple:
    case kList:
    case kFrozenSet:
      return PopMark(&from) && PushContainer(PickleKind::kSequence, from);
    case kDict:
      if (!PopMark(&from)) return false;
      if ((stack_.size() - from) % 2 != 0) return Wrong("a key without a value");
      return PushContainer(PickleKind::kDictionary, from);
    case kAppend:
      return Last(2) && Extend(PickleKind::kSequence, from - 1);
    case kSetItem:
      return Last(3) && Extend(PickleKind::kDictionary, from - 2);
    case kAppends:
    case kAddItems:
      return PopMark(&from) && Extend(PickleKind::kSequence, from);
    case kSetItems:
      return PopMark(&from) && Extend(PickleKind::kDictionary, from);
    default:
      return StepStack(code);
  }
}

bool PickleMachine::StepStack(unsigned char code) {
  std::uint64_t index = 0;
  std::size_t from = 0;
  switch (code) {
    case kMark:
      marks_.push_back(stack_.size());
      return true;
    case kPop:
      if (!Last(1)) return false;
      stack_.pop_back();
      return true;
    case kPopMark:
      if (!PopMark(&from)) return false;
      stack_.resize(from);
      return true;
    case kDup:
      if (!Last(1)) return false;
      stack_.push_back(stack_.back());
      return true;
    case kMemoize:
      return Remember(memo_.size());
    case kBinPut:
    case kLongBinPut:
      return TakeNumber(code == kBinPut ? 1 : 4, &index) && Remember(index);
    case kBinGet:
    case kLongBinGet:
      return TakeNumber(code == kBinGet ? 1 : 4, &index) && Recall(index);
    default:
      return Refuse(code);
  }
}

bool PickleMachine::Refuse(unsigned char code) {
  const char* actor = NameOfActor(code);
  if (actor != nullptr)
    return Wrong(fmt::format("{}: the pickle holds objects, not only plain values", actor));
  return Wrong(fmt::format("instruction {:#04x} is not one for plain values", code));
}

bool PickleMachine::Take(std::uint64_t count, std::string_view* part) {
  if (count > bytes_.size() - at_) return Wrong("the pickle is cut");
  *part = bytes_.substr(at_, count);
  at_ += count;
  return true;
}

bool PickleMachine::TakeNumber(std::uint32_t bytes, std::uint64_t* number) {
  std::string_view part;
  if (!Take(bytes, &part)) return false;
  *number = 0;
  for (std::size_t i = part.size(); i-- > 0;)
    *number = *number << 8 | static_cast<unsigned char>(part[i]);
  return true;
}

bool PickleMachine::Text(PickleKind kind, std::uint32_t length_bytes) {
  std::uint64_t length = 0;
  std::string_view text;
  return TakeNumber(length_bytes, &length) && Take(length, &text) &&
         Push({.kind = kind, .text = text});
}

// Two's complement, little-endian, as short as it can be.
bool PickleMachine::Long(std::uint32_t length_bytes) {
  std::uint64_t length = 0;
  std::string_view digits;
  if (!TakeNumber(length_bytes, &length) || !Take(length, &digits)) return false;
  const bool negative = !digits.empty() && (digits.back() & 0x80) != 0;
  if (digits.size() == 9 && digits.back() == 0) digits.remove_suffix(1);  // 2^63 and above
  if (digits.size() > 8) return Push({.kind = PickleKind::kBigInteger});
  std::uint64_t number = negative ? ~std::uint64_t{0} : 0;
  for (std::size_t i = digits.size(); i-- > 0;)
    number = number << 8 | static_cast<unsigned char>(digits[i]);
  return Push({.kind = PickleKind::kInteger, .integer = number});
}

bool PickleMachine::Push(Pickle::Value value) {
  if (pickle_.values_.size() >= kNothing) return Wrong("too many values");
  stack_.push_back(static_cast<Handle>(pickle_.values_.size()));
  pickle_.values_.push_back(value);
  return true;
}

bool PickleMachine::PushContainer(PickleKind kind, std::size_t from) {
  const auto container = static_cast<std::uint32_t>(pickle_.containers_.size());
  const auto begin = stack_.begin() + static_cast<std::ptrdiff_t>(from);
  pickle_.containers_.emplace_back(begin, stack_.end());
  stack_.resize(from);
  return Push({.kind = kind, .container = container});
}

bool PickleMachine::Last(std::size_t count) {
  const std::size_t floor = marks_.empty() ? 0 : marks_.back();
  return stack_.size() - floor >= count || Wrong("the stack has too few values");
}

bool PickleMachine::PopMark(std::size_t* from) {
  if (marks_.empty()) return Wrong("no mark on the stack");
  *from = marks_.back();
  marks_.pop_back();
  return true;
}

bool PickleMachine::Extend(PickleKind kind, std::size_t from) {
  const std::size_t floor = marks_.empty() ? 0 : marks_.back();
  if (from <= floor) return Wrong("the stack has too few values");
  const Pickle::Value& below = pickle_.values_[stack_[from - 1]];
  if (below.kind != kind) return Wrong("items for what is no container of such");
  if (kind == PickleKind::kDictionary && (stack_.size() - from) % 2 != 0)
    return Wrong("a key without a value");
  std::vector<Handle>& items = pickle_.containers_[below.container];
  items.insert(items.end(), stack_.begin() + static_cast<std::ptrdiff_t>(from), stack_.end());
  stack_.resize(from);
  return true;
}

// CPython numbers them in order, so a number beyond the bytes read is none of its making.
bool PickleMachine::Remember(std::uint64_t index) {
  if (!Last(1)) return false;
  if (index >= at_) return Wrong("impossible number in the memo");
  if (index >= memo_.size()) memo_.resize(index + 1, kNothing);
  memo_[index] = stack_.back();
  return true;
}

bool PickleMachine::Recall(std::uint64_t index) {
  if (index >= memo_.size() || memo_[index] == kNothing)
    return Wrong("nothing of that number in the memo");
  stack_.push_back(memo_[index]);
  return true;
}

}  // namespace cuheap::replay
