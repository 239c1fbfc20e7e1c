#include "allocator/frontend/destination.h"

#include <charconv>
#include <cstring>

namespace cuheap {
namespace {

class Writer {
 public:
  explicit Writer(std::span<char> out) : out_(out) {}

  void Text(std::string_view text) {
    if (used_ + text.size() + 1 > out_.size()) {
      fits_ = false;
      return;
    }
    std::memcpy(out_.data() + used_, text.data(), text.size());
    used_ += text.size();
  }

  void Number(std::int64_t number) {
    char digits[24];
    const auto end = std::to_chars(digits, digits + sizeof digits, number).ptr;
    Text(std::string_view(digits, static_cast<std::size_t>(end - digits)));
  }

  bool Finish() {
    if (out_.empty()) return false;
    out_[fits_ ? used_ : 0] = 0;
    return fits_;
  }

 private:
  std::span<char> out_;
  std::size_t used_ = 0;
  bool fits_ = true;
};

void Fill(char letter, const ProcessFacts& facts, Writer* out) {
  switch (letter) {
    case 'h':
      return out->Text(facts.host);
    case 'p':
      return out->Number(facts.pid);
    case 'r':
      return facts.rank < 0 ? out->Text("-") : out->Number(facts.rank);
    case '%':
      return out->Text("%");
    default:
      out->Text("%");
      return out->Text(std::string_view(&letter, 1));
  }
}

}  // namespace

bool FillDestination(std::string_view pattern, const ProcessFacts& facts, std::span<char> path) {
  Writer out(path);
  if (!pattern.starts_with('/')) {
    out.Text(facts.folder);
    if (!facts.folder.ends_with('/')) out.Text("/");
  }
  if (pattern.empty()) {
    out.Text(facts.program);
    pattern = ".%h.%p.cuheap";
  }
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] == '%' && i + 1 < pattern.size())
      Fill(pattern[++i], facts, &out);
    else
      out.Text(pattern.substr(i, 1));
  }
  return out.Finish();
}

}  // namespace cuheap
