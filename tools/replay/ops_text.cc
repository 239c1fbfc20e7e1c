#include "tools/replay/ops_text.h"

#include <fmt/format.h>

#include <iterator>
#include <optional>

#include "tools/replay/text_rows.h"

namespace cuheap::replay {
namespace {

struct Reading {
  OpStream stream;
  std::uint32_t blocks = 0;
  std::vector<bool> freed;
  DeviceId device{};
  StreamHandle place{};
};

const char* Allocate(Reading* reading, std::uint64_t bytes) {
  if (bytes == 0 || bytes > OpStream::kMostBytes.count()) return "no block has that size";
  if (reading->blocks >= OpStream::kMostBlocks) return "too many blocks";
  reading->stream.ops.push_back({Bytes(bytes), reading->place, BlockNumber(reading->blocks++),
                                 reading->device, OpKind::kAllocate});
  reading->freed.push_back(false);
  return nullptr;
}

const char* Touch(Reading* reading, OpKind kind, std::uint64_t distance, std::uint64_t stream) {
  if (distance == 0 || distance > reading->blocks) return "no block is that far";
  const auto block = static_cast<std::uint32_t>(reading->blocks - distance);
  if (reading->freed[block]) return "the block was freed before";
  if (kind == OpKind::kFree) reading->freed[block] = true;
  reading->stream.ops.push_back(
      {.stream = StreamHandle(stream), .block = BlockNumber(block), .kind = kind});
  return nullptr;
}

const char* Read(Reading* reading, const std::vector<std::string_view>& fields) {
  const char what = fields[0].size() == 1 ? fields[0][0] : '\0';
  std::uint64_t numbers[2] = {};
  const std::size_t count = fields.size() - 1;
  if (what == '#') return nullptr;
  if (count > 2) return "too many words";
  for (std::size_t i = 0; i < count; ++i) {
    const std::optional<std::uint64_t> number = TextRows::Number(fields[i + 1]);
    if (!number) return "not a number";
    numbers[i] = *number;
  }
  if (what == 'a' && count == 1) return Allocate(reading, numbers[0]);
  if (what == 'f' && count == 1) return Touch(reading, OpKind::kFree, numbers[0], 0);
  if (what == 'u' && count == 2) return Touch(reading, OpKind::kRecordUse, numbers[0], numbers[1]);
  if (what == 's' && count == 0) {
    reading->stream.ops.push_back({.kind = OpKind::kStep});
    return nullptr;
  }
  if (what != '@' || count != 2) return "neither a, f, u, s, @ nor #, or not with its numbers";
  if (numbers[0] >= OpStream::kMostDevices) return "the device is beyond the sixteenth";
  reading->device = DeviceId(numbers[0]);
  reading->place = StreamHandle(numbers[1]);
  return nullptr;
}

}  // namespace

Result<OpStream> ReadOpsText(std::string_view text) {
  if (!text.starts_with(kOpsText)) return Error{ErrorKind::kForeign, "line 1: not cuheap-ops 1"};
  TextRows rows(text, ' ');
  rows.Next();
  Reading reading;
  while (rows.Next()) {
    const char* wrong = Read(&reading, rows.fields());
    if (wrong != nullptr)
      return Error{ErrorKind::kCorrupt, fmt::format("line {}: {}", rows.line(), wrong)};
  }
  return std::move(reading.stream);
}

std::string WriteOpsText(const OpStream& stream) {
  std::string text = std::string(kOpsText) + "\n";
  const auto out = std::back_inserter(text);
  std::uint32_t blocks = 0;
  DeviceId device{};
  StreamHandle place{};
  for (const Op& op : stream.ops) {
    if (op.kind == OpKind::kStep) {
      text += "s\n";
    } else if (op.kind == OpKind::kFree) {
      fmt::format_to(out, "f {}\n", blocks - Value(op.block));
    } else if (op.kind == OpKind::kRecordUse) {
      fmt::format_to(out, "u {} {}\n", blocks - Value(op.block), Value(op.stream));
    } else {
      if (op.device != device || op.stream != place)
        fmt::format_to(out, "@ {} {}\n", Value(op.device), Value(op.stream));
      device = op.device;
      place = op.stream;
      fmt::format_to(out, "a {}\n", op.bytes.count());
      ++blocks;
    }
  }
  return text;
}

}  // namespace cuheap::replay
