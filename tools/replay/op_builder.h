// Makes an OpStream from events that name blocks by address, as allocators log them.
//
// Laws: 1. What it has made keeps the laws of op_stream.h. 2. A call that gives a complaint changed
// nothing.
// Threads: none of its own.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>

#include "tools/replay/op_stream.h"

namespace cuheap::replay {

class OpBuilder {
 public:
  // Empty, or what is wrong. Streams are handles of the program; they get numbers as they come.
  std::string Allocate(DeviceId device, Address address, Bytes bytes, StreamHandle stream);
  std::string Free(DeviceId device, Address address);
  std::string RecordUse(DeviceId device, Address address, StreamHandle stream);
  void Step() { stream_.ops.push_back({.kind = OpKind::kStep}); }

  bool Lives(DeviceId device, Address address) const { return live_.contains({device, address}); }
  void Note(std::string sentence) { stream_.notes.push_back(std::move(sentence)); }
  OpStream Take() { return std::move(stream_); }

 private:
  using Place = std::pair<DeviceId, Address>;
  struct HashOfPlace {
    std::size_t operator()(const Place& place) const {
      return std::hash<std::uint64_t>()(Value(place.second) * 16 + Value(place.first));
    }
  };

  StreamHandle NumberOf(StreamHandle stream);

  OpStream stream_;
  std::uint32_t blocks_ = 0;
  std::unordered_map<Place, BlockNumber, HashOfPlace> live_;
  std::map<StreamHandle, StreamHandle> streams_{{StreamHandle(0), StreamHandle(0)}};
};

}  // namespace cuheap::replay
