#include "tools/replay/read.h"

#include <cstring>

#include "tools/replay/minimalloc.h"
#include "tools/replay/ops_text.h"
#include "tools/replay/packed_text.h"
#include "tools/replay/rmm_log.h"
#include "tools/replay/text_rows.h"
#include "tools/replay/torch_snapshot.h"
#include "tools/replay/trace_events.h"
#include "tools/trace/mapped_file.h"
#include "tools/trace/reader.h"

namespace cuheap::replay {
namespace {

Result<OpStream> ReadText(std::string_view text) {
  if (text.starts_with(kOpsText)) return ReadOpsText(text);
  TextRows rows(text.substr(0, 4096));
  if (rows.Next()) {
    if (rows.Find({"Action"}) != TextRows::kNowhere) return ReadRmmLog(text);
    if (rows.Find({"size"}) != TextRows::kNowhere) return ReadMinimalloc(text);
  }
  return Error{ErrorKind::kForeign,
               "none of what replay reads: a trace of cuheap's, operations (cuheap-ops), a "
               "snapshot of PyTorch's, "
               "a log of RMM's, lifetimes as minimalloc has them"};
}

bool IsTrace(std::span<const std::byte> bytes) {
  return bytes.size() >= sizeof format::kMagic &&
         std::memcmp(bytes.data(), format::kMagic, sizeof format::kMagic) == 0;
}

}  // namespace

Result<OpStream> ReadBytes(std::string_view bytes) {
  if (bytes.empty()) return Error{ErrorKind::kEmpty, "empty"};
  if (IsPacked(bytes)) {
    const Result<std::string> text = Unpacked(bytes);
    if (!text.ok()) return text.error();
    if (IsPacked(*text)) return Error{ErrorKind::kForeign, "gzip behind gzip"};
    return ReadBytes(*text);
  }
  return bytes.starts_with('\x80') ? ReadTorchSnapshot(bytes) : ReadText(bytes);
}

Result<OpStream> ReadFile(const std::string& path, const std::string& heap) {
  const Result<trace::MappedFile> file = trace::MappedFile::Open(path);
  if (!file.ok()) return file.error();
  const std::span<const std::byte> bytes = file->bytes();
  if (IsTrace(bytes)) {
    const Result<trace::Trace> trace = trace::ReadTrace(path);
    return trace.ok() ? ReadTraceEvents(*trace, heap) : trace.error();
  }
  if (!heap.empty())
    return Error{ErrorKind::kAbsent, path + ": only a trace of cuheap's has heaps to choose from"};
  Result<OpStream> stream = ReadBytes({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  if (!stream.ok()) return Error{stream.error().kind, path + ": " + stream.error().message};
  return stream;
}

}  // namespace cuheap::replay
