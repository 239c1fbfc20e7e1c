#include "allocator/capture/python_self_check.h"

#include <array>
#include <cstring>

namespace cuheap::capture {
namespace {

// A reference that is owned, or none.
class Reference {
 public:
  Reference(const PythonApi& api, void* object) : api_(api), object_(object) {}
  Reference(const Reference&) = delete;
  Reference& operator=(const Reference&) = delete;
  ~Reference() { Set(nullptr); }

  void* get() const { return object_; }
  void Set(void* object) {
    if (object_ != nullptr) api_.Py_DecRef(object_);
    object_ = object;
  }

 private:
  const PythonApi& api_;
  void* object_;
};

constexpr std::uint32_t kQualifiedNames = 0x030b0000;
constexpr std::uint32_t kLinetable = 0x030a0000;

class Comparison {
 public:
  Comparison(const PythonStack& stack, const PythonApi& api) : stack_(stack), api_(api) {}

  bool SameFrame(void* frame, const PythonFrame& walked) {
    const Reference code(api_, api_.PyFrame_GetCode(frame));
    return code.get() == walked.code && SamePlace(frame, code.get(), walked) &&
           SameContent(code.get(), walked);
  }

 private:
  bool SamePlace(void* frame, void* code, const PythonFrame& walked) {
    const int instruction = static_cast<int>(walked.instruction);
    if (api_.PyFrame_GetLasti != nullptr) return api_.PyFrame_GetLasti(frame) == instruction;
    // 3.9 and 3.10 export no instruction, so the lines must agree. Before a frame's first
    // instruction the interpreter names the line of its head.
    const int line = api_.PyFrame_GetLineNumber(frame);
    return line == api_.PyCode_Addr2Line(code, instruction) ||
           (instruction == 0 && line == api_.PyCode_Addr2Line(code, -1));
  }

  bool SameContent(void* code, const PythonFrame& walked) {
    const CodeContent content = stack_.Describe(walked, scratch_);
    const bool qualified = stack_.version_hex() >= kQualifiedNames;
    const bool linetable = stack_.version_hex() >= kLinetable;
    return SameText(code, "co_filename", content.file) &&
           SameText(code, qualified ? "co_qualname" : "co_name", content.function) &&
           SameNumber(code, "co_firstlineno", content.first_line) &&
           SameBytes(code, linetable ? "co_linetable" : "co_lnotab", content.linetable);
  }

  // A name that Python itself cannot encode (lone surrogates) says nothing against the layout; nor
  // does one that was cut at the end of the scratch.
  bool SameText(void* code, const char* attribute, std::string_view text) {
    const Reference value(api_, api_.PyObject_GetAttrString(code, attribute));
    ssize_t size = 0;
    const char* const expected =
        value.get() == nullptr ? nullptr : api_.PyUnicode_AsUTF8AndSize(value.get(), &size);
    if (expected == nullptr) {
      api_.PyErr_Clear();
      return value.get() != nullptr;
    }
    const std::string_view whole(expected, static_cast<std::size_t>(size));
    return whole == text || (whole.size() > scratch_.size() / 2 && whole.starts_with(text));
  }

  bool SameNumber(void* code, const char* attribute, std::int32_t number) {
    const Reference value(api_, api_.PyObject_GetAttrString(code, attribute));
    if (value.get() == nullptr) {
      api_.PyErr_Clear();
      return false;
    }
    return api_.PyLong_AsLong(value.get()) == number;
  }

  bool SameBytes(void* code, const char* attribute, std::span<const std::uint8_t> bytes) {
    const Reference value(api_, api_.PyObject_GetAttrString(code, attribute));
    char* expected = nullptr;
    ssize_t size = 0;
    if (value.get() == nullptr ||
        api_.PyBytes_AsStringAndSize(value.get(), &expected, &size) != 0) {
      api_.PyErr_Clear();
      return false;
    }
    return static_cast<std::size_t>(size) == bytes.size() &&
           std::memcmp(expected, bytes.data(), bytes.size()) == 0;
  }

  const PythonStack& stack_;
  const PythonApi& api_;
  std::array<char, 2048> scratch_;
};

}  // namespace

WalkVerdict CompareWalk(const PythonStack& stack, const PythonApi& api) {
  void* const innermost = api.PyEval_GetFrame();  // borrowed
  std::array<PythonFrame, kMaxPythonFrames> walked;
  bool cut = false;
  const int count = stack.Walk(walked, &cut);
  if (innermost == nullptr)
    return count == 0 ? WalkVerdict::kNothingToCompare : WalkVerdict::kDifferent;
  Comparison comparison(stack, api);
  Reference owned(api, nullptr);  // all but the innermost
  void* frame = innermost;
  for (int i = 0; i < count; ++i) {
    if (frame == nullptr || !comparison.SameFrame(frame, walked[static_cast<std::size_t>(i)]))
      return WalkVerdict::kDifferent;
    owned.Set(frame = api.PyFrame_GetBack(frame));
  }
  return (frame != nullptr) == cut && count > 0 ? WalkVerdict::kSame : WalkVerdict::kDifferent;
}

}  // namespace cuheap::capture
