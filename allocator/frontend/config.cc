#include "allocator/frontend/config.h"

#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

namespace cuheap {
namespace {

constexpr std::string_view kPrefix = "CUHEAP_";

struct Word {
  std::string_view text;
  std::uint32_t value;
};
constexpr Word kStackWords[] = {{"auto", 0},   {"none", 1},   {"tag", 2},
                                {"python", 3}, {"native", 4}, {"all", 5}};
constexpr Word kModeWords[] = {{"summary", 0}, {"events", 1}, {"full", 2}};
constexpr Word kRedactWords[] = {{"nothing", 0}, {"args", 1}};
constexpr Word kFlagWords[] = {{"1", 1}, {"on", 1},  {"yes", 1}, {"true", 1}, {"", 0},
                               {"0", 0}, {"off", 0}, {"no", 0},  {"false", 0}};

// Launchers that tell a process its place, the strongest first.
constexpr std::string_view kRankNames[] = {"RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK",
                                           "SLURM_PROCID"};
constexpr std::string_view kWorldNames[] = {"WORLD_SIZE", "OMPI_COMM_WORLD_SIZE", "PMI_SIZE",
                                            "SLURM_NTASKS"};

template <std::size_t N, class Value>
bool ParseWord(const Word (&words)[N], std::string_view text, Value* value) {
  for (const Word& word : words) {
    if (word.text != text) continue;
    *value = static_cast<Value>(word.value);
    return true;
  }
  return false;
}

bool Parse(std::string_view text, format::StackMode* mode) {
  return ParseWord(kStackWords, text, mode);
}

bool Parse(std::string_view text, format::Mode* mode) { return ParseWord(kModeWords, text, mode); }

bool Parse(std::string_view text, Redact* redact) { return ParseWord(kRedactWords, text, redact); }

bool Parse(std::string_view text, bool* flag) { return ParseWord(kFlagWords, text, flag); }

// "4096", "256M", "1G"; the unit is a power of 1024.
bool Parse(const char* text, Bytes lowest, Bytes highest, Bytes* size) {
  if (std::isdigit(static_cast<unsigned char>(*text)) == 0) return false;
  char* end = nullptr;
  const std::uint64_t number = std::strtoull(text, &end, 10);
  constexpr std::string_view kUnits = "KMGT";
  unsigned shift = 0;
  if (const std::size_t unit = kUnits.find(static_cast<char>(std::toupper(*end)));
      *end != 0 && unit != kUnits.npos) {
    shift = 10 * static_cast<unsigned>(unit + 1);
    ++end;
  }
  if (*end != 0 || number > (~std::uint64_t{0} >> shift)) return false;
  const Bytes value(number << shift);
  if (value < lowest || value > highest) return false;
  *size = value;
  return true;
}

bool Parse(std::string_view text, char* field, std::size_t longest) {
  if (text.size() > longest) return false;
  std::memcpy(field, text.data(), text.size());
  field[text.size()] = 0;
  return true;
}

void Complain(Config* config, const char* format, std::string_view name, const char* what) {
  if (config->complaint[0] != 0) return;
  std::snprintf(config->complaint, sizeof config->complaint, format, static_cast<int>(name.size()),
                name.data(), what);
}

void NoteChange(Config* config, std::string_view name, const char* value) {
  const std::size_t used = std::strlen(config->changed);
  const int written =
      std::snprintf(config->changed + used, sizeof config->changed - used, "%s%.*s=%s",
                    used != 0 ? " " : "", static_cast<int>(name.size()), name.data(), value);
  for (std::size_t i = used; i < sizeof config->changed && config->changed[i] != '='; ++i)
    config->changed[i] = static_cast<char>(std::tolower(config->changed[i]));
  // A knob that does not fit is left out whole: half of a path would be another path.
  if (written < 0 || used + static_cast<std::size_t>(written) >= sizeof config->changed)
    config->changed[used] = 0;
}

// Whether the name (without CUHEAP_) is a row of the table; `understood` says the same of the
// value.
bool SetKnob(std::string_view name, const char* value, Config* config, bool* understood,
             const char** help) {
#define CUHEAP_ROW(NAME, text, parse) \
  if (name == NAME) {                 \
    *help = text;                     \
    *understood = parse;              \
    return true;                      \
  }
#define CUHEAP_TEXT(field, NAME, initial, longest, text) \
  CUHEAP_ROW(#NAME, text, Parse(value, config->field, longest))
#define CUHEAP_FLAG(field, NAME, initial, text) \
  CUHEAP_ROW(#NAME, text, Parse(value, &config->field))
#define CUHEAP_SIZE(field, NAME, initial, lowest, highest, text) \
  CUHEAP_ROW(#NAME, text, Parse(value, lowest, highest, &config->field))
#define CUHEAP_CHOICE(field, NAME, type, initial, text) \
  CUHEAP_ROW(#NAME, text, Parse(value, &config->field))
#define CUHEAP_FOREIGN(prefix, whose)
#include "allocator/frontend/config.def"
#undef CUHEAP_TEXT
#undef CUHEAP_FLAG
#undef CUHEAP_SIZE
#undef CUHEAP_CHOICE
#undef CUHEAP_FOREIGN
#undef CUHEAP_ROW
  return false;
}

constexpr std::string_view kForeign[] = {
#define CUHEAP_TEXT(field, NAME, value, longest, help)
#define CUHEAP_FLAG(field, NAME, value, help)
#define CUHEAP_SIZE(field, NAME, value, lowest, highest, help)
#define CUHEAP_CHOICE(field, NAME, type, value, help)
#define CUHEAP_FOREIGN(prefix, whose) prefix,
#include "allocator/frontend/config.def"
#undef CUHEAP_TEXT
#undef CUHEAP_FLAG
#undef CUHEAP_SIZE
#undef CUHEAP_CHOICE
#undef CUHEAP_FOREIGN
};

bool IsForeign(std::string_view name) {
  for (std::string_view prefix : kForeign)
    if (name.starts_with(prefix)) return true;
  return false;
}

void ReadKnob(std::string_view name, const char* value, Config* config) {
  bool understood = false;
  const char* help = "";
  if (SetKnob(name, value, config, &understood, &help)) {
    if (understood)
      NoteChange(config, name, value);
    else
      Complain(config, "CUHEAP_%.*s is not understood; it is: %s", name, help);
  } else if (!IsForeign(name)) {
    Complain(config, "CUHEAP_%.*s is not a knob of this version%s", name, "");
  }
}

// The names' place in the list decides, not their order in the environment.
template <std::size_t N>
void ReadPlace(const std::string_view (&names)[N], std::string_view name, const char* value,
               std::size_t* best, std::int32_t* place) {
  for (std::size_t i = 0; i < N && i < *best; ++i) {
    if (names[i] != name) continue;
    char* end = nullptr;
    const long number = std::strtol(value, &end, 10);
    if (end == value || *end != 0 || number < 0 || number > INT32_MAX) return;
    *place = static_cast<std::int32_t>(number);
    *best = i;
  }
}

}  // namespace

void ReadConfig(const char* const* environment, Config* config) {
  std::size_t best_rank = std::size(kRankNames);
  std::size_t best_world = std::size(kWorldNames);
  for (; environment != nullptr && *environment != nullptr; ++environment) {
    const std::string_view variable = *environment;
    const std::size_t equals = variable.find('=');
    if (equals == std::string_view::npos) continue;
    const std::string_view name = variable.substr(0, equals);
    const char* value = *environment + equals + 1;
    if (name.starts_with(kPrefix)) {
      ReadKnob(name.substr(kPrefix.size()), value, config);
      continue;
    }
    ReadPlace(kRankNames, name, value, &best_rank, &config->rank);
    ReadPlace(kWorldNames, name, value, &best_world, &config->world_size);
    if (name == "PYTORCH_NO_CUDA_MEMORY_CACHING") config->torch_caching_off = true;
  }
}

}  // namespace cuheap
