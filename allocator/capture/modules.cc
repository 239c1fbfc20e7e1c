#include "allocator/capture/modules.h"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "allocator/capture/memory_probe.h"
#include "allocator/capture/module_map.h"

namespace cuheap::capture {
namespace {

// struct dl_find_object of <dlfcn.h>, declared here so that an older C library's headers do.
struct FoundObject {
  unsigned long long flags;
  void* map_begin;
  void* map_end;
  link_map* map;
  void* unwind_table;
  unsigned long long reserved[7];
};

constinit ModuleMap fallback;

constexpr std::string_view kUnknownPath = "unknown";

// Reads /proc/self/maps line by line through a small buffer; no allocation.
class MapsReader {
 public:
  MapsReader() : file_(open("/proc/self/maps", O_RDONLY | O_CLOEXEC)) {}
  ~MapsReader() {
    if (file_ >= 0) close(file_);
  }
  MapsReader(const MapsReader&) = delete;
  MapsReader& operator=(const MapsReader&) = delete;

  // False at the end. A line longer than the buffer is cut.
  bool Next(std::string_view* line) {
    for (;;) {
      if (const void* end = std::memchr(text_ + begin_, '\n', end_ - begin_); end != nullptr) {
        const auto next = static_cast<std::size_t>(static_cast<const char*>(end) - text_);
        *line = {text_ + begin_, next - begin_};
        begin_ = next + 1;
        return true;
      }
      if (!Fill()) return false;
    }
  }

 private:
  bool Fill() {
    std::memmove(text_, text_ + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
    if (file_ < 0 || end_ == sizeof text_) return false;
    const ssize_t got = read(file_, text_ + end_, sizeof text_ - end_);
    if (got <= 0) return false;
    end_ += static_cast<std::size_t>(got);
    return true;
  }

  int file_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  char text_[4608];
};

std::uint64_t ParseHex(std::string_view text) {
  std::uint64_t value = 0;
  for (const char c : text) {
    if (c >= '0' && c <= '9')
      value = value * 16 + static_cast<std::uint64_t>(c - '0');
    else if (c >= 'a' && c <= 'f')
      value = value * 16 + static_cast<std::uint64_t>(c - 'a' + 10);
    else
      break;
  }
  return value;
}

std::string_view CopyInto(std::span<char> path, std::string_view text) {
  const std::size_t length = std::min(path.size(), text.size());
  std::copy_n(text.data(), length, path.data());
  return {path.data(), length};
}

// The loader was given a relative path (dlopen("./x.so")), which meant something at that time only.
std::string_view PathOfMapping(std::uint64_t begin, std::span<char> path) {
  MapsReader maps;
  for (std::string_view line; maps.Next(&line);)
    if (const std::size_t slash = line.find('/');
        slash != std::string_view::npos && ParseHex(line) == begin)
      return CopyInto(path, line.substr(slash));
  return {};
}

std::string_view MainProgramPath(std::span<char> path) {
  const ssize_t length = readlink("/proc/self/exe", path.data(), path.size());
  return length <= 0 ? std::string_view()
                     : std::string_view(path.data(), static_cast<size_t>(length));
}

bool AreReadable(std::uint64_t begin, std::uint64_t size) {
  return ReadableUpTo(begin, begin + size) == begin + size;
}

// The build-id among the notes in [at, end).
std::span<const std::uint8_t> FindBuildId(std::uint64_t at, std::uint64_t end) {
  constexpr std::uint64_t kNameBytes = 4;  // "GNU"
  while (end - at >= sizeof(Elf64_Nhdr) + kNameBytes) {
    const auto note = Load<Elf64_Nhdr>(at);
    const std::uint64_t name = at + sizeof note;
    const std::uint64_t text = name + ((std::uint64_t{note.n_namesz} + 3) & ~3u);
    if (text > end || note.n_descsz > end - text) return {};
    if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == kNameBytes &&
        std::memcmp(reinterpret_cast<const void*>(name), ELF_NOTE_GNU, kNameBytes) == 0)
      return {reinterpret_cast<const std::uint8_t*>(text), note.n_descsz};
    at = text + ((std::uint64_t{note.n_descsz} + 3) & ~3u);
    if (at > end) return {};
  }
  return {};
}

}  // namespace

// Weak: below glibc 2.35 its address is null. Read from the GOT, so that a call never enters the
// lazy binder.
extern "C" int FindLoadedObject(void* address, FoundObject* result) __asm__("_dl_find_object")
    __attribute__((weak));

bool FindModule(std::uint64_t pc, Module* module) {
  int (*const find)(void*, FoundObject*) = FindLoadedObject;
  if (find == nullptr) return fallback.Find(pc, module);
  FoundObject found;
  if (find(reinterpret_cast<void*>(pc), &found) != 0) return false;
  *module = {reinterpret_cast<std::uint64_t>(found.map_begin),
             reinterpret_cast<std::uint64_t>(found.map_end), found.map->l_addr, found.map,
             reinterpret_cast<std::uint64_t>(found.unwind_table)};
  return true;
}

std::string_view ModulePath(const Module& module, std::span<char> path) {
  const char* const name = static_cast<const link_map*>(module.link_map)->l_name;
  const std::string_view given = name == nullptr ? std::string_view() : name;
  std::string_view found;
  if (given.empty())
    found = MainProgramPath(path);
  else if (given[0] != '/' && given.find('/') != std::string_view::npos)
    found = PathOfMapping(module.map_begin, path);
  else
    found = CopyInto(path, given);
  return found.empty() ? kUnknownPath : found;
}

std::span<const std::uint8_t> ModuleBuildId(const Module& module) {
  const std::uint64_t begin = module.map_begin;
  const std::uint64_t end = module.map_end;
  if (end - begin < sizeof(Elf64_Ehdr) || !AreReadable(begin, sizeof(Elf64_Ehdr))) return {};
  const auto head = Load<Elf64_Ehdr>(begin);
  const std::uint64_t table = begin + head.e_phoff;
  const std::uint64_t table_size = std::uint64_t{head.e_phnum} * sizeof(Elf64_Phdr);
  if (std::memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 || table < begin ||
      table + table_size > end || head.e_phentsize != sizeof(Elf64_Phdr) ||
      !AreReadable(table, table_size))
    return {};
  for (std::uint64_t at = table; at < table + table_size; at += sizeof(Elf64_Phdr)) {
    const auto header = Load<Elf64_Phdr>(at);
    const std::uint64_t notes = module.load_bias + header.p_vaddr;
    if (header.p_type != PT_NOTE || notes < begin || notes > end || header.p_memsz > end - notes ||
        !AreReadable(notes, header.p_memsz))
      continue;
    if (const auto id = FindBuildId(notes, notes + header.p_memsz); !id.empty()) return id;
  }
  return {};
}

void RefreshModules() {
  if (&FindLoadedObject == nullptr) fallback.Refresh();
}

}  // namespace cuheap::capture
