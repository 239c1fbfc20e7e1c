#include "tools/replay/rmm_log.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

#include "tools/replay/op_builder.h"
#include "tools/replay/text_rows.h"

namespace cuheap::replay {
namespace {

constexpr DeviceId kDevice{0};  // a log is of one resource, which is of one device

class RmmLog {
 public:
  Result<OpStream> Read(std::string_view text) {
    TextRows rows(text);
    if (!rows.Next()) return Error{ErrorKind::kEmpty, "no line"};
    if (!ReadHeader(rows))
      return Bad(rows.line(), "the columns Action, Pointer, Size and Stream are wanted");
    while (rows.Next()) {
      if (rows.fields().size() != count_)
        return Bad(rows.line(),
                   fmt::format("{} fields, the first line has {}", rows.fields().size(), count_));
      const std::string wrong = ReadRow(rows.fields());
      if (!wrong.empty()) return Bad(rows.line(), wrong);
    }
    if (failures_ > 0)
      builder_.Note(fmt::format("{} allocations that had failed are left out", failures_));
    return builder_.Take();
  }

 private:
  static Error Bad(std::uint64_t line, std::string_view what) {
    return {ErrorKind::kCorrupt, fmt::format("line {}: {}", line, what)};
  }

  bool ReadHeader(const TextRows& rows) {
    action_ = rows.Find({"Action"});
    pointer_ = rows.Find({"Pointer"});
    size_ = rows.Find({"Size"});
    stream_ = rows.Find({"Stream"});
    count_ = rows.fields().size();
    return std::max({action_, pointer_, size_, stream_}) != TextRows::kNowhere;
  }

  std::string ReadRow(const std::vector<std::string_view>& fields) {
    const std::string_view action = fields[action_];
    if (action == "allocate failure") {
      ++failures_;
      return {};
    }
    const std::optional<std::uint64_t> pointer = TextRows::Number(fields[pointer_]);
    const std::optional<std::uint64_t> size = TextRows::Number(fields[size_]);
    const std::optional<std::uint64_t> stream = TextRows::Number(fields[stream_]);
    if (!pointer || !size || !stream) return "not a number";
    if (action == "allocate") return Allocate(Address(*pointer), Bytes(*size), *stream);
    if (action == "free") return Free(Address(*pointer), Bytes(*size));
    return fmt::format("the action is neither allocate nor free: '{:.40}'", action);
  }

  // An allocation of no bytes has no pointer, and its free none either.
  std::string Allocate(Address address, Bytes bytes, std::uint64_t stream) {
    if (bytes == Bytes()) return {};
    if (builder_.Lives(kDevice, address)) {
      ++overdue_[address];
      const std::string wrong = builder_.Free(kDevice, address);
      if (!wrong.empty()) return wrong;
    }
    return builder_.Allocate(kDevice, address, bytes, StreamHandle(stream));
  }

  std::string Free(Address address, Bytes bytes) {
    if (bytes == Bytes()) return {};
    const auto overdue = overdue_.find(address);
    if (overdue == overdue_.end()) return builder_.Free(kDevice, address);
    if (--overdue->second == 0) overdue_.erase(overdue);
    return {};
  }

  std::size_t action_ = 0;
  std::size_t pointer_ = 0;
  std::size_t size_ = 0;
  std::size_t stream_ = 0;
  std::size_t count_ = 0;
  std::uint64_t failures_ = 0;
  std::map<Address, std::uint64_t> overdue_;  // frees to be passed over
  OpBuilder builder_;
};

}  // namespace

Result<OpStream> ReadRmmLog(std::string_view text) { return RmmLog().Read(text); }

}  // namespace cuheap::replay
