#include "tools/replay/packed_text.h"

#include <zlib.h>

#include <algorithm>

namespace cuheap::replay {
namespace {

constexpr int kGzip = 15 + 16;  // the largest window, with gzip's header
constexpr std::size_t kPiece = 1u << 20;

Bytef* In(std::string_view bytes) {
  return const_cast<Bytef*>(reinterpret_cast<const Bytef*>(bytes.data()));
}

// zlib counts in 32 bits.
uInt Some(std::string_view bytes) {
  return static_cast<uInt>(std::min<std::size_t>(bytes.size(), 1u << 30));
}

}  // namespace

bool IsPacked(std::string_view bytes) { return bytes.starts_with("\x1f\x8b"); }

Result<std::string> Unpacked(std::string_view bytes) {
  z_stream stream = {};
  if (inflateInit2(&stream, kGzip) != Z_OK) return Error{ErrorKind::kUnreadable, "zlib refuses"};
  std::string text;
  int status = Z_OK;
  while (status == Z_OK && text.size() <= kMostUnpacked.count()) {
    const std::size_t have = text.size();
    text.resize(have + kPiece);
    stream.next_in = In(bytes);
    stream.avail_in = Some(bytes);
    stream.next_out = reinterpret_cast<Bytef*>(text.data() + have);
    stream.avail_out = kPiece;
    const uInt given = stream.avail_in;
    status = inflate(&stream, Z_NO_FLUSH);
    bytes.remove_prefix(given - stream.avail_in);
    text.resize(have + kPiece - stream.avail_out);
  }
  inflateEnd(&stream);
  if (status == Z_OK) return Error{ErrorKind::kCorrupt, "more than 1 GiB behind gzip"};
  if (status != Z_STREAM_END) return Error{ErrorKind::kCorrupt, "gzip: cut or damaged"};
  return text;
}

std::string Packed(std::string_view text) {
  z_stream stream = {};
  if (deflateInit2(&stream, Z_BEST_COMPRESSION, Z_DEFLATED, kGzip, 9, Z_DEFAULT_STRATEGY) != Z_OK)
    return {};
  std::string packed(deflateBound(&stream, static_cast<uLong>(text.size())), '\0');
  stream.next_in = In(text);
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  const int status = deflate(&stream, Z_FINISH);
  packed.resize(packed.size() - stream.avail_out);
  deflateEnd(&stream);
  return status == Z_STREAM_END ? packed : std::string();
}

}  // namespace cuheap::replay
