#include "tools/replay/op_builder.h"

#include <fmt/format.h>

namespace cuheap::replay {

std::string OpBuilder::Allocate(DeviceId device, Address address, Bytes bytes,
                                StreamHandle stream) {
  if (Value(device) >= OpStream::kMostDevices)
    return fmt::format("device {} is beyond the sixteenth", Value(device));
  if (bytes == Bytes() || bytes > OpStream::kMostBytes)
    return fmt::format("no block has {} bytes", bytes.count());
  if (blocks_ >= OpStream::kMostBlocks)
    return fmt::format("more than {} blocks", OpStream::kMostBlocks);
  const auto [place, fresh] = live_.try_emplace({device, address}, BlockNumber(blocks_));
  if (!fresh) return fmt::format("the block at {:#x} lives already", Value(address));
  ++blocks_;
  stream_.ops.push_back({bytes, NumberOf(stream), place->second, device, OpKind::kAllocate});
  return {};
}

std::string OpBuilder::Free(DeviceId device, Address address) {
  const auto place = live_.find({device, address});
  if (place == live_.end()) return fmt::format("no block lives at {:#x}", Value(address));
  stream_.ops.push_back({.block = place->second, .kind = OpKind::kFree});
  live_.erase(place);
  return {};
}

std::string OpBuilder::RecordUse(DeviceId device, Address address, StreamHandle stream) {
  const auto place = live_.find({device, address});
  if (place == live_.end()) return fmt::format("no block lives at {:#x}", Value(address));
  stream_.ops.push_back(
      {.stream = NumberOf(stream), .block = place->second, .kind = OpKind::kRecordUse});
  return {};
}

StreamHandle OpBuilder::NumberOf(StreamHandle stream) {
  return streams_.try_emplace(stream, StreamHandle(streams_.size())).first->second;
}

}  // namespace cuheap::replay
