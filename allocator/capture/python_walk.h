// The walk over a thread's frame chain, for any version, over a way to read memory (direct loads,
// or loads that first ask whether the memory is there) and a source of offsets (constants of a
// version that the compiler can fold, or a layout given at run time).
#pragma once

#include <cstdint>
#include <span>

#include "allocator/capture/memory_probe.h"
#include "allocator/capture/python_layout.h"
#include "allocator/capture/python_stack.h"

namespace cuheap::capture {

// For an interpreter whose layout has proved itself.
struct DirectReader {
  template <typename T>
  T Read(std::uintptr_t address) {
    return Load<T>(address);
  }
  static constexpr bool failed() { return false; }
};

// For one that has not: an unreadable address gives zero and marks the walk as failed. Remembers
// the pages it has asked about.
class CarefulReader {
 public:
  template <typename T>
  T Read(std::uintptr_t address) {
    if (!Reachable(address) || !Reachable(address + sizeof(T) - 1)) {
      failed_ = true;
      return T{};
    }
    return Load<T>(address);
  }
  bool failed() const { return failed_; }

 private:
  static constexpr unsigned kPages = 16;

  bool Reachable(std::uintptr_t address) {
    const std::uintptr_t page = address & ~(kPage - 1);
    for (const std::uintptr_t known : pages_)
      if (known == page) return page != 0;
    if (!IsReadable(page)) return false;
    pages_[next_++ % kPages] = page;
    return true;
  }

  std::uintptr_t pages_[kPages] = {};
  unsigned next_ = 0;
  bool failed_ = false;
};

template <int kMinor>
struct TableLayout {
  static constexpr PythonLayout kLayout = PythonLayout::FromTable(kMinor);
  static constexpr const PythonLayout& get() { return kLayout; }
};

struct GivenLayout {
  const PythonLayout& layout;
  const PythonLayout& get() const { return layout; }
};

template <typename Reader, typename Layout>
class FrameWalk {
 public:
  FrameWalk(Layout layout, const void* code_type)
      : source_(layout), code_type_(reinterpret_cast<std::uintptr_t>(code_type)) {}

  // How many frames of the thread were written; `*cut` says that more would have been.
  int Run(std::uintptr_t thread, std::span<PythonFrame> frames, bool* cut) {
    std::uintptr_t frame = FirstFrame(thread);
    std::size_t count = 0;
    for (int step = 0; frame != 0 && step < kMostSteps && !reader_.failed(); ++step) {
      const std::uintptr_t code = CodeOf(frame);
      if (!IsShim(frame)) {
        if (code == 0 || reader_.template Read<std::uintptr_t>(code + kObjectType) != code_type_)
          break;
        std::uint32_t instruction = 0;
        if (InstructionOf(frame, code, &instruction)) {
          if (count == frames.size()) {
            *cut = true;
            break;
          }
          frames[count++] = {reinterpret_cast<const void*>(code), Fingerprint(code), instruction};
        }
      }
      frame = reader_.template Read<std::uintptr_t>(frame + layout().frame_previous);
    }
    return reader_.failed() ? 0 : static_cast<int>(count);
  }

  bool failed() const { return reader_.failed(); }

 private:
  // A chain with more frames than are wanted and as many shims ends here at the latest, also when
  // it is a circle.
  static constexpr int kMostSteps = 4 * kMaxPythonFrames;
  static constexpr std::uintptr_t kObjectType = 8;  // PyObject.ob_type
  static constexpr std::uint8_t kOwnedByGenerator = 1;
  // FRAME_OWNED_BY_CSTACK; 3.14 renames it and adds the sentinel of a thread above it.
  static constexpr std::uint8_t kFirstShimOwner = 3;

  std::uintptr_t FirstFrame(std::uintptr_t thread) {
    const auto first = reader_.template Read<std::uintptr_t>(thread + layout().thread_frame);
    if (layout().cframe_frame == PythonLayout::kAbsent || first == 0) return first;
    return reader_.template Read<std::uintptr_t>(first + layout().cframe_frame);
  }

  // 3.14 marks the reference in its low bits; a pointer to an object has none set before.
  std::uintptr_t CodeOf(std::uintptr_t frame) {
    return reader_.template Read<std::uintptr_t>(frame + layout().frame_code) & ~std::uintptr_t{3};
  }

  std::uint8_t OwnerOf(std::uintptr_t frame) {
    return reader_.template Read<std::uint8_t>(frame + layout().frame_owner);
  }

  // The interpreter's own entries into itself (3.12+) stand in the chain and are nobody's function.
  bool IsShim(std::uintptr_t frame) {
    return layout().frame_owner != PythonLayout::kAbsent && OwnerOf(frame) >= kFirstShimOwner;
  }

  // False for a frame that is still being made: before its first traceable instruction (3.11+) its
  // variables do not exist and tracebacks do not show it.
  bool InstructionOf(std::uintptr_t frame, std::uintptr_t code, std::uint32_t* instruction) {
    if (layout().instruction != PythonLayout::Instruction::kPointer) {
      const int index = reader_.template Read<int>(frame + layout().frame_instruction);
      const int unit = layout().instruction == PythonLayout::Instruction::kUnitIndex ? 2 : 1;
      *instruction = index < 0 ? 0 : static_cast<std::uint32_t>(index * unit);
      return true;
    }
    const auto at = static_cast<std::int64_t>(
        reader_.template Read<std::uintptr_t>(frame + layout().frame_instruction) -
        (code + layout().code_bytes));
    const int first = reader_.template Read<int>(code + layout().code_first_traceable);
    *instruction = at < 0 ? 0 : static_cast<std::uint32_t>(at);
    return at >= 2 * std::int64_t{first} || OwnerOf(frame) == kOwnedByGenerator;
  }

  std::uint64_t SizeOf(std::uintptr_t code) {
    const auto size = reader_.template Read<std::uint64_t>(code + layout().code_size);
    if (layout().instruction == PythonLayout::Instruction::kPointer) return size;
    return reader_.template Read<std::uint64_t>(size + layout().bytes_size);
  }

  std::uint64_t Fingerprint(std::uintptr_t code) {
    constexpr std::uint64_t kOdd = 0x9e3779b97f4a7c15u;
    const auto file = reader_.template Read<std::uint64_t>(code + layout().code_file);
    const auto name = reader_.template Read<std::uint64_t>(code + layout().code_name);
    const auto line = reader_.template Read<std::uint32_t>(code + layout().code_first_line);
    const std::uint64_t mixed =
        file ^ (name << 21 | name >> 43) ^ (std::uint64_t{line} << 40 ^ SizeOf(code) << 16);
    return (mixed ^ mixed >> 32) * kOdd;
  }

  const PythonLayout& layout() const { return source_.get(); }

  [[no_unique_address]] const Layout source_;
  const std::uintptr_t code_type_;
  Reader reader_;
};

}  // namespace cuheap::capture
