// Names for things that are numbers, so that a device is never passed where a stream is meant.
#pragma once

#include <cstdint>

namespace cuheap {

enum class DeviceId : std::uint8_t {};       // CUDA ordinal in this process
enum class StreamHandle : std::uint64_t {};  // as the program sees it; the driver uses it again
enum class StreamId : std::uint64_t {};      // of one stream, never used again
enum class Address : std::uint64_t {};       // device, managed or host address; 0 = none
enum class SiteId : std::uint32_t { kUnknown = 0 };
enum class RecordId : std::uint32_t { kNone = 0xffffffffu };
enum class Nanoseconds : std::uint64_t {};  // since the ledger's start (monotonic clock)

constexpr std::uint64_t Value(Address a) { return static_cast<std::uint64_t>(a); }
constexpr std::uint64_t Value(StreamHandle s) { return static_cast<std::uint64_t>(s); }
constexpr std::uint64_t Value(StreamId s) { return static_cast<std::uint64_t>(s); }
constexpr std::uint64_t Value(Nanoseconds t) { return static_cast<std::uint64_t>(t); }
constexpr std::uint32_t Value(SiteId s) { return static_cast<std::uint32_t>(s); }
constexpr std::uint32_t Value(RecordId r) { return static_cast<std::uint32_t>(r); }
constexpr std::uint32_t Value(DeviceId d) { return static_cast<std::uint32_t>(d); }

}  // namespace cuheap
