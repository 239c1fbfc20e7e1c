// What NCCL's calls do with the data: the documented placement of what each rank sends, and real
// sums, products, extrema and averages. What is sent is taken before anything is written, since a
// call may work in place.
#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstring>

#include "tests/sim/standins/nccl_work.h"

namespace cuheap::sim_standin {
namespace {

using Bytes = std::vector<std::byte>;

// ncclDataType_t and ncclRedOp_t.
enum Type { kInt8, kUint8, kInt32, kUint32, kInt64, kUint64, kHalf, kFloat, kDouble, kBfloat16 };
enum Operation { kSum, kProduct, kMaximum, kMinimum, kAverage };

// Sixteen bits that stand for a float.
float FromBfloat16(std::uint16_t bits) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}
std::uint16_t ToBfloat16(float value) {  // to the nearest, ties to even
  const auto bits = std::bit_cast<std::uint32_t>(value);
  if (value != value) return 0x7fff;
  return static_cast<std::uint16_t>((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}
float FromHalf(std::uint16_t bits) { return static_cast<float>(std::bit_cast<_Float16>(bits)); }
std::uint16_t ToHalf(float value) {
  return std::bit_cast<std::uint16_t>(static_cast<_Float16>(value));
}

template <typename T>
T Combine(int operation, T a, T b) {
  switch (operation) {
    case kProduct:
      return static_cast<T>(a * b);
    case kMaximum:
      return std::max(a, b);
    case kMinimum:
      return std::min(a, b);
    default:
      return static_cast<T>(a + b);
  }
}

// `Value` is what is reckoned with, `Stored` what lies in memory.
template <typename Stored, typename Value, typename Load, typename Store>
void FoldAs(int operation, const std::vector<Bytes>& from, Load load, Store store, Bytes* to) {
  for (std::size_t at = 0; at + sizeof(Stored) <= to->size(); at += sizeof(Stored)) {
    Value value{};
    for (std::size_t rank = 0; rank < from.size(); ++rank) {
      Stored stored;
      std::memcpy(&stored, from[rank].data() + at, sizeof stored);
      const Value other = load(stored);
      value = rank == 0 ? other : Combine(operation, value, other);
    }
    if (operation == kAverage) value = static_cast<Value>(value / static_cast<Value>(from.size()));
    const Stored result = store(value);
    std::memcpy(to->data() + at, &result, sizeof result);
  }
}

template <typename T>
void FoldPlain(int operation, const std::vector<Bytes>& from, Bytes* to) {
  const auto same = [](T value) { return value; };
  FoldAs<T, T>(operation, from, same, same, to);
}

Bytes Fold(const NcclCall& call, const std::vector<Bytes>& from) {
  Bytes to(from[0].size());
  const int operation = call.operation;
  switch (call.type) {
    case kInt8:
      FoldPlain<std::int8_t>(operation, from, &to);
      break;
    case kUint8:
      FoldPlain<std::uint8_t>(operation, from, &to);
      break;
    case kInt32:
      FoldPlain<std::int32_t>(operation, from, &to);
      break;
    case kUint32:
      FoldPlain<std::uint32_t>(operation, from, &to);
      break;
    case kInt64:
      FoldPlain<std::int64_t>(operation, from, &to);
      break;
    case kUint64:
      FoldPlain<std::uint64_t>(operation, from, &to);
      break;
    case kHalf:
      FoldAs<std::uint16_t, float>(operation, from, FromHalf, ToHalf, &to);
      break;
    case kBfloat16:
      FoldAs<std::uint16_t, float>(operation, from, FromBfloat16, ToBfloat16, &to);
      break;
    case kFloat:
      FoldPlain<float>(operation, from, &to);
      break;
    case kDouble:
      FoldPlain<double>(operation, from, &to);
      break;
  }
  return to;
}

Bytes Take(const void* from, std::size_t bytes) {
  const auto* first = static_cast<const std::byte*>(from);
  return first == nullptr ? Bytes(bytes) : Bytes(first, first + bytes);
}

void Put(void* to, std::size_t offset, const Bytes& from, std::size_t first, std::size_t bytes) {
  if (to != nullptr && bytes != 0)
    std::memcpy(static_cast<std::byte*>(to) + offset, from.data() + first, bytes);
}

// From every rank to every rank: piece `to` of what `from` sends becomes piece `from` of what `to`
// gets.
void Exchange(const std::vector<NcclCall>& calls, const std::vector<Bytes>& sent, std::size_t piece,
              bool pieces_differ) {
  for (std::size_t to = 0; to < calls.size(); ++to)
    for (std::size_t from = 0; from < calls.size(); ++from)
      Put(calls[to].receive, from * piece, sent[from], pieces_differ ? to * piece : 0, piece);
}

std::vector<Bytes> TakeAll(const std::vector<NcclCall>& calls, std::size_t bytes) {
  std::vector<Bytes> sent;
  for (const NcclCall& call : calls) sent.push_back(Take(call.send, bytes));
  return sent;
}

}  // namespace

std::size_t BytesOfNcclType(int type) {
  constexpr std::size_t kBytes[] = {1, 1, 4, 4, 8, 8, 2, 4, 8, 2};
  return type >= 0 && static_cast<std::size_t>(type) < std::size(kBytes) ? kBytes[type] : 0;
}

bool IsNcclOperation(int operation) { return operation >= kSum && operation <= kAverage; }

void MoveData(const std::vector<NcclCall>& calls) {
  const NcclCall& first = calls[0];
  const std::size_t piece = first.count * BytesOfNcclType(first.type);
  const std::size_t all = piece * calls.size();
  const auto root = static_cast<std::size_t>(first.peer);
  switch (first.kind) {
    case NcclKind::kAllReduce: {
      const Bytes result = Fold(first, TakeAll(calls, piece));
      for (const NcclCall& call : calls) Put(call.receive, 0, result, 0, piece);
      return;
    }
    case NcclKind::kReduce:
      return Put(calls[root].receive, 0, Fold(first, TakeAll(calls, piece)), 0, piece);
    case NcclKind::kBroadcast: {
      const Bytes sent = Take(calls[root].send, piece);
      for (const NcclCall& call : calls) Put(call.receive, 0, sent, 0, piece);
      return;
    }
    case NcclKind::kAllGather:
      return Exchange(calls, TakeAll(calls, piece), piece, false);
    case NcclKind::kReduceScatter: {
      const Bytes result = Fold(first, TakeAll(calls, all));
      for (std::size_t i = 0; i < calls.size(); ++i)
        Put(calls[i].receive, 0, result, i * piece, piece);
      return;
    }
    case NcclKind::kAllToAll:
      return Exchange(calls, TakeAll(calls, all), piece, true);
    case NcclKind::kGather: {
      const std::vector<Bytes> sent = TakeAll(calls, piece);
      for (std::size_t i = 0; i < calls.size(); ++i)
        Put(calls[root].receive, i * piece, sent[i], 0, piece);
      return;
    }
    case NcclKind::kScatter: {
      const Bytes sent = Take(calls[root].send, all);
      for (std::size_t i = 0; i < calls.size(); ++i)
        Put(calls[i].receive, 0, sent, i * piece, piece);
      return;
    }
    case NcclKind::kMessage:
      return Put(calls[1].receive, 0, Take(first.send, piece), 0, piece);
  }
}

}  // namespace cuheap::sim_standin
