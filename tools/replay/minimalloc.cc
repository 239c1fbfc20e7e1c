#include "tools/replay/minimalloc.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <tuple>

#include "tools/replay/op_builder.h"
#include "tools/replay/text_rows.h"

namespace cuheap::replay {
namespace {

struct Columns {
  std::size_t lower = TextRows::kNowhere;
  std::size_t upper = TextRows::kNowhere;
  std::size_t size = TextRows::kNowhere;
  std::uint64_t beyond_upper = 0;  // from what the column says to the end of the life
  std::size_t count = 0;
};

struct Event {
  std::uint64_t time = 0;
  OpKind kind{};
  std::uint64_t row = 0;
  Bytes bytes{};

  auto Order() const { return std::tuple(time, kind == OpKind::kAllocate, row); }
};

Error Bad(std::uint64_t line, std::string_view what) {
  return {ErrorKind::kCorrupt, fmt::format("line {}: {}", line, what)};
}

Result<Columns> ReadHeader(const TextRows& rows) {
  Columns columns;
  columns.lower = rows.Find({"lower", "start", "begin"});
  columns.upper = rows.Find({"upper"});
  columns.size = rows.Find({"size"});
  columns.count = rows.fields().size();
  if (columns.upper == TextRows::kNowhere) {
    columns.upper = rows.Find({"end"});
    columns.beyond_upper = 1;
  }
  if (std::max({columns.lower, columns.upper, columns.size}) == TextRows::kNowhere)
    return Bad(rows.line(), "the columns lower, upper and size are wanted");
  return columns;
}

Result<std::vector<Event>> ReadEvents(TextRows* rows, const Columns& columns) {
  std::vector<Event> events;
  while (rows->Next()) {
    const auto& fields = rows->fields();
    if (fields.size() != columns.count)
      return Bad(rows->line(),
                 fmt::format("{} fields, the first line has {}", fields.size(), columns.count));
    const std::optional<std::uint64_t> lower = TextRows::Number(fields[columns.lower]);
    const std::optional<std::uint64_t> upper = TextRows::Number(fields[columns.upper]);
    const std::optional<std::uint64_t> size = TextRows::Number(fields[columns.size]);
    if (!lower || !upper || !size) return Bad(rows->line(), "not a number from 0 on");
    if (*upper >= ~std::uint64_t{0} - 1) return Bad(rows->line(), "impossible time");
    const std::uint64_t end = *upper + columns.beyond_upper;
    if (*lower >= end) return Bad(rows->line(), "the buffer ends before it begins");
    events.push_back({*lower, OpKind::kAllocate, rows->line(), Bytes(*size)});
    events.push_back({end, OpKind::kFree, rows->line(), Bytes(*size)});
  }
  return events;
}

}  // namespace

Result<OpStream> ReadMinimalloc(std::string_view text) {
  TextRows rows(text);
  if (!rows.Next()) return Error{ErrorKind::kEmpty, "no line"};
  const Result<Columns> columns = ReadHeader(rows);
  if (!columns.ok()) return columns.error();
  Result<std::vector<Event>> events = ReadEvents(&rows, *columns);
  if (!events.ok()) return events.error();
  std::sort(events->begin(), events->end(),
            [](const Event& a, const Event& b) { return a.Order() < b.Order(); });
  OpBuilder builder;
  for (const Event& event : *events) {
    const std::string wrong =
        event.kind == OpKind::kAllocate
            ? builder.Allocate(DeviceId(0), Address(event.row), event.bytes, StreamHandle(0))
            : builder.Free(DeviceId(0), Address(event.row));
    if (!wrong.empty()) return Bad(event.row, wrong);
  }
  return builder.Take();
}

}  // namespace cuheap::replay
