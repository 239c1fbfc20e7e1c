#include "tools/trace/symbolizer.h"

#include <cxxabi.h>
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>
#include <fmt/format.h>
#include <gelf.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <map>

namespace cuheap::trace {
namespace {

std::string Demangled(const char* name) {
  int status = 0;
  char* text = abi::__cxa_demangle(name, nullptr, nullptr, &status);
  std::string result = status == 0 && text != nullptr ? text : name;
  std::free(text);
  return result;
}

std::string FunctionName(Dwarf_Die* die) {
  Dwarf_Attribute attribute;
  const char* linkage = dwarf_formstring(dwarf_attr_integrate(die, DW_AT_linkage_name, &attribute));
  if (linkage == nullptr)
    linkage = dwarf_formstring(dwarf_attr_integrate(die, DW_AT_MIPS_linkage_name, &attribute));
  if (linkage != nullptr) return Demangled(linkage);
  const char* name = dwarf_diename(die);
  return name != nullptr ? name : "";
}

// Where an inlined function was called from: the place of the next outer frame.
void CallPlace(Dwarf_Die* unit, Dwarf_Die* inlined, std::string* file, std::int32_t* line) {
  Dwarf_Attribute attribute;
  Dwarf_Word value = 0;
  file->clear();
  *line = 0;
  if (dwarf_formudata(dwarf_attr(inlined, DW_AT_call_file, &attribute), &value) == 0) {
    Dwarf_Files* files = nullptr;
    std::size_t count = 0;
    if (dwarf_getsrcfiles(unit, &files, &count) == 0 && value < count) {
      const char* source = dwarf_filesrc(files, value, nullptr, nullptr);
      if (source != nullptr) *file = source;
    }
  }
  if (dwarf_formudata(dwarf_attr(inlined, DW_AT_call_line, &attribute), &value) == 0 &&
      value <= 0x7fffffff) {
    *line = static_cast<std::int32_t>(value);
  }
}

struct Symbol {
  GElf_Addr address;
  GElf_Xword size;
  const char* name;
};

// One module, opened apart from its process.
class OpenModule {
 public:
  explicit OpenModule(const Module& module) : path_(module.path) {
    static const Dwfl_Callbacks kCallbacks = {.find_elf = dwfl_build_id_find_elf,
                                              .find_debuginfo = dwfl_standard_find_debuginfo,
                                              .section_address = dwfl_offline_section_address,
                                              .debuginfo_path = nullptr};
    std::error_code error;
    if (!std::filesystem::is_regular_file(path_, error)) return;
    dwfl_ = dwfl_begin(&kCallbacks);
    if (dwfl_ == nullptr) return;
    Dwfl_Module* reported = dwfl_report_offline(dwfl_, path_.c_str(), path_.c_str(), -1);
    dwfl_report_end(dwfl_, nullptr, nullptr);
    if (reported == nullptr || dwfl_module_getelf(reported, &bias_) == nullptr) return;
    if (SameBuild(reported, module.build_id)) module_ = reported;
  }
  OpenModule(const OpenModule&) = delete;
  OpenModule& operator=(const OpenModule&) = delete;
  ~OpenModule() { dwfl_end(dwfl_); }

  std::vector<Frame> Resolve(std::uint64_t offset) {
    std::vector<Frame> frames;
    if (module_ != nullptr) frames = FromDwarf(offset + bias_);
    if (frames.empty() && module_ != nullptr) frames = FromSymbols(offset + bias_);
    if (frames.empty()) {
      const std::string name = std::filesystem::path(path_).filename().string();
      frames.push_back(
          {fmt::format("{}+{:#x}", name.empty() ? "?" : name, offset), path_, 0, false});
    }
    return frames;
  }

 private:
  static bool SameBuild(Dwfl_Module* reported, const std::vector<std::uint8_t>& recorded) {
    const unsigned char* bits = nullptr;
    GElf_Addr address = 0;
    const int length = dwfl_module_build_id(reported, &bits, &address);
    if (length <= 0) return recorded.empty();
    // A module whose build-id could not be read in the process is taken by its path.
    if (recorded.empty()) return true;
    const std::size_t common = std::min(recorded.size(), static_cast<std::size_t>(length));
    return std::memcmp(bits, recorded.data(), common) == 0;
  }

  // The unit that holds the address. The table of address ranges may leave units out (clang writes
  // none), and then answers with a neighbour; the slow way round asks each unit.
  Dwarf_Die* UnitOf(Dwarf_Addr address, Dwarf_Addr* bias) {
    Dwarf_Die* unit = dwfl_module_addrdie(module_, address, bias);
    if (unit != nullptr && dwarf_haspc(unit, address - *bias) == 1) return unit;
    unit = nullptr;
    while ((unit = dwfl_module_nextcu(module_, unit, bias)) != nullptr) {
      if (dwarf_haspc(unit, address - *bias) == 1) return unit;
    }
    return nullptr;
  }

  std::vector<Frame> FromDwarf(Dwarf_Addr address) {
    std::vector<Frame> frames;
    Dwarf_Addr bias = 0;
    if (dwfl_module_getdwarf(module_, &bias) == nullptr) return frames;
    Dwarf_Die* unit = UnitOf(address, &bias);
    if (unit == nullptr) return frames;
    std::string file;
    int line = 0;
    if (Dwarf_Line* place = dwarf_getsrc_die(unit, address - bias)) {
      const char* source = dwarf_linesrc(place, nullptr, nullptr);
      if (source != nullptr) file = source;
      dwarf_lineno(place, &line);
    }
    AppendScopes(unit, address - bias, std::move(file), line, &frames);
    return frames;
  }

  // `file` and `line` are those of the address itself, in the innermost function.
  void AppendScopes(Dwarf_Die* unit, Dwarf_Addr pc, std::string file, std::int32_t line,
                    std::vector<Frame>* frames) {
    Dwarf_Die* around = nullptr;
    if (dwarf_getscopes(unit, pc, &around) <= 0) return;
    // What stands around an inlined call in that list is where its function was written; where it
    // was called is found by following the innermost entry outwards.
    Dwarf_Die* scopes = nullptr;
    const int count = dwarf_getscopes_die(&around[0], &scopes);
    for (int i = 0; i < count; ++i) {
      const int tag = dwarf_tag(&scopes[i]);
      if (tag != DW_TAG_inlined_subroutine && tag != DW_TAG_subprogram) continue;
      frames->push_back(
          {FunctionName(&scopes[i]), file.empty() ? path_ : file, file.empty() ? 0 : line, false});
      if (tag == DW_TAG_subprogram) break;
      CallPlace(unit, &scopes[i], &file, &line);
    }
    std::free(scopes);
    std::free(around);
  }

  std::vector<Frame> FromSymbols(GElf_Addr address) {
    LoadSymbols();
    const auto next =
        std::upper_bound(symbols_.begin(), symbols_.end(), address,
                         [](GElf_Addr a, const Symbol& symbol) { return a < symbol.address; });
    if (next == symbols_.begin()) return {};
    const Symbol& symbol = *std::prev(next);
    if (symbol.size != 0 && address - symbol.address >= symbol.size) return {};
    return {{fmt::format("{}+{:#x}", Demangled(symbol.name), address - symbol.address), path_, 0,
             false}};
  }

  void LoadSymbols() {
    if (symbols_loaded_) return;
    symbols_loaded_ = true;
    const int count = dwfl_module_getsymtab(module_);
    for (int i = 1; i < count; ++i) {
      GElf_Sym entry;
      GElf_Addr address = 0;
      const char* name =
          dwfl_module_getsym_info(module_, i, &entry, &address, nullptr, nullptr, nullptr);
      const int type = GELF_ST_TYPE(entry.st_info);
      if (name == nullptr || entry.st_shndx == SHN_UNDEF ||
          (type != STT_FUNC && type != STT_GNU_IFUNC))
        continue;
      symbols_.push_back({address, entry.st_size, name});
    }
    std::stable_sort(symbols_.begin(), symbols_.end(),
                     [](const Symbol& a, const Symbol& b) { return a.address < b.address; });
  }

  std::string path_;
  Dwfl* dwfl_ = nullptr;
  Dwfl_Module* module_ = nullptr;  // null: missing, unreadable or of another build
  GElf_Addr bias_ = 0;
  bool symbols_loaded_ = false;
  std::vector<Symbol> symbols_;
};

}  // namespace

struct Symbolizer::Impl {
  std::map<std::pair<std::string, std::vector<std::uint8_t>>, std::unique_ptr<OpenModule>> modules;
};

Symbolizer::Symbolizer() : impl_(std::make_unique<Impl>()) {}
Symbolizer::~Symbolizer() = default;

std::vector<Frame> Symbolizer::Resolve(const Module& module, std::uint64_t offset) {
  auto& open = impl_->modules[{module.path, module.build_id}];
  if (open == nullptr) open = std::make_unique<OpenModule>(module);
  return open->Resolve(offset);
}

}  // namespace cuheap::trace
