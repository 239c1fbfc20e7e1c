// A cursor over DWARF's byte formats. A read beyond the end gives zero and is remembered, so
// callers check once.
#pragma once

#include <cstdint>

#include "allocator/capture/memory_probe.h"

namespace cuheap::capture {

class DwarfReader {
 public:
  constexpr DwarfReader(std::uint64_t begin, std::uint64_t end) : at_(begin), end_(end) {}

  bool ok() const { return ok_; }
  bool done() const { return at_ >= end_; }
  std::uint64_t at() const { return at_; }
  std::uint64_t end() const { return end_; }

  template <typename T>
  T Read() {
    if (end_ - at_ < sizeof(T) || at_ > end_) {
      Fail();
      return T{};
    }
    const T value = Load<T>(at_);
    at_ += sizeof(T);
    return value;
  }

  std::uint64_t ReadUleb() {
    std::uint64_t value = 0;
    for (int shift = 0;; shift += 7) {
      const auto byte = Read<std::uint8_t>();
      if (shift < 64) value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
      if ((byte & 0x80) == 0) return value;
    }
  }

  std::int64_t ReadSleb() {
    std::int64_t value = 0;
    for (int shift = 0;;) {
      const auto byte = Read<std::uint8_t>();
      if (shift < 64)
        value |= static_cast<std::int64_t>(static_cast<std::uint64_t>(byte & 0x7f) << shift);
      shift += 7;
      if ((byte & 0x80) != 0) continue;
      if (shift < 64 && (byte & 0x40) != 0)
        value |= static_cast<std::int64_t>(~std::uint64_t{0} << shift);
      return value;
    }
  }

  // A pointer in one of the encodings of .eh_frame (absolute or relative to where it stands). An
  // indirect one is returned as it stands.
  std::uint64_t ReadPointer(std::uint8_t encoding) {
    const std::uint64_t base = (encoding & 0x70) == 0x10 ? at_ : 0;
    if ((encoding & 0x70) > 0x10) Fail();
    switch (encoding & 0x0f) {
      case 0x00:
      case 0x04:
      case 0x0c:
        return base + Read<std::uint64_t>();
      case 0x02:
        return base + Read<std::uint16_t>();
      case 0x03:
        return base + Read<std::uint32_t>();
      case 0x0a:
        return base + static_cast<std::uint64_t>(std::int64_t{Read<std::int16_t>()});
      case 0x0b:
        return base + static_cast<std::uint64_t>(std::int64_t{Read<std::int32_t>()});
      case 0x01:
        return base + ReadUleb();
      case 0x09:
        return base + static_cast<std::uint64_t>(ReadSleb());
      default:
        Fail();
        return 0;
    }
  }

  // The next `size` bytes as a reader of their own.
  DwarfReader Take(std::uint64_t size) {
    if (size > end_ - at_) {
      Fail();
      size = 0;
    }
    const DwarfReader part(at_, at_ + size);
    at_ += size;
    return part;
  }

 private:
  void Fail() {
    ok_ = false;
    at_ = end_;
  }

  std::uint64_t at_;
  std::uint64_t end_;
  bool ok_ = true;
};

}  // namespace cuheap::capture
