#include "tools/replay/op_stream.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace cuheap::replay {
namespace {

enum class Life : std::uint8_t { kLive, kFreed };

const char* FirstBrokenOf(const Op& op, std::vector<Life>* lives) {
  if (op.kind == OpKind::kStep) return nullptr;
  const std::uint32_t block = Value(op.block);
  if (op.kind == OpKind::kAllocate) {
    if (block != lives->size()) return "law 1: blocks are numbered in order";
    if (block >= OpStream::kMostBlocks) return "law 4: too many blocks";
    if (op.bytes == Bytes() || op.bytes > OpStream::kMostBytes) return "law 3: impossible size";
    if (Value(op.device) >= OpStream::kMostDevices) return "law 3: impossible device";
    lives->push_back(Life::kLive);
    return nullptr;
  }
  if (block >= lives->size() || (*lives)[block] != Life::kLive)
    return "law 2: the block does not live";
  if (op.kind == OpKind::kFree) (*lives)[block] = Life::kFreed;
  return nullptr;
}

}  // namespace

std::string FirstBrokenLaw(const OpStream& stream) {
  std::vector<Life> lives;
  for (std::size_t i = 0; i < stream.ops.size(); ++i) {
    const char* broken = FirstBrokenOf(stream.ops[i], &lives);
    if (broken != nullptr) return fmt::format("{} (operation {})", broken, i + 1);
  }
  return {};
}

OpFigures FiguresOf(const OpStream& stream) {
  OpFigures figures;
  std::vector<Op> blocks;
  std::vector<Bytes> live(OpStream::kMostDevices);
  figures.peak_live.resize(OpStream::kMostDevices);
  std::set<StreamHandle> streams;
  for (const Op& op : stream.ops) {
    if (op.kind == OpKind::kAllocate) {
      ++figures.allocations;
      blocks.push_back(op);
      const std::uint32_t device = Value(op.device);
      figures.devices = std::max(figures.devices, device + 1);
      live[device] += op.bytes;
      figures.peak_live[device] = std::max(figures.peak_live[device], live[device]);
    } else if (op.kind == OpKind::kFree) {
      ++figures.frees;
      const Op& born = blocks[Value(op.block)];
      live[Value(born.device)] -= born.bytes;
    }
    figures.uses += op.kind == OpKind::kRecordUse;
    figures.steps += op.kind == OpKind::kStep;
    if (op.kind == OpKind::kAllocate || op.kind == OpKind::kRecordUse) streams.insert(op.stream);
  }
  figures.streams = streams.size();
  figures.peak_live.resize(figures.devices);
  const auto fullest = std::max_element(figures.peak_live.begin(), figures.peak_live.end());
  figures.fullest = DeviceId(fullest - figures.peak_live.begin());
  return figures;
}

}  // namespace cuheap::replay
