#include "tests/sim/engine/settings.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "tests/sim/engine/driver_function.h"

namespace cuheap::sim {
namespace {

bool Read(const char* text, int* out) {
  char* end = nullptr;
  const long value = std::strtol(text, &end, 10);
  *out = static_cast<int>(value);
  return end != text && *end == 0 && value >= 0 && value <= 1'000'000;
}

bool Read(const char* text, std::uint64_t* out) {
  char* end = nullptr;
  const double value = std::strtod(text, &end);
  int shift = 0;
  switch (*end) {
    case 'K':
      shift = 10;
      break;
    case 'M':
      shift = 20;
      break;
    case 'G':
      shift = 30;
      break;
    case 'T':
      shift = 40;
      break;
    default:
      break;
  }
  if (shift != 0) ++end;
  const double bytes = value * static_cast<double>(1ULL << shift);
  if (end == text || *end != 0 || !(bytes >= 0) || bytes > static_cast<double>(1ULL << 40)) {
    return false;
  }
  *out = static_cast<std::uint64_t>(bytes);
  return true;
}

bool Read(const char* text, std::string* out) {
  *out = text;
  return true;
}

bool Read(const char* text, Capability* out) {
  char rest = 0;
  return std::sscanf(text, "%d.%d%c", &out->major, &out->minor, &rest) == 2 && out->major > 0 &&
         out->minor >= 0;
}

bool Read(const char* text, ClockSetting* out) { return ReadClock(text, out); }

bool Read(const char* text, ShutdownTime* out) { return ReadShutdownTime(text, out); }

bool Read(const char* text, Settings::Nvml* out) {
  constexpr const char* kNames[] = {"full", "no-permission", "not-supported"};
  for (int i = 0; i < 3; ++i) {
    if (std::strcmp(text, kNames[i]) != 0) continue;
    *out = static_cast<Settings::Nvml>(i);
    return true;
  }
  return false;
}

bool Read(const char* text, PeerLinks* out) { return PeerLinks::Read(text, out); }

bool Read(const char* text, bool* out) {
  *out = std::strcmp(text, "on") == 0;
  return *out || std::strcmp(text, "off") == 0;
}

bool Read(const char* text, std::vector<FaultRule>* out) { return ParseFaults(text, out); }

bool Read(const char* text, Settings::EntryPoints* out) { return ParseEntryPoints(text, out); }

template <class Value>
bool ReadOrExplain(const char* variable, const char* standard, const char* help, Value* out) {
  const char* text = std::getenv(variable);
  if (text == nullptr || *text == 0) return Read(standard, out);
  if (Read(text, out)) return true;
  std::fprintf(stderr, "cuheap-sim: %s=%s cannot be read: %s\n", variable, text, help);
  return false;
}

Settings ReadAll() {
  Settings settings;
#define SETTING(reader, field, variable, standard, help) \
  settings.valid &= ReadOrExplain(variable, standard, help, &settings.field);
#include "tests/sim/engine/settings.def"
#undef SETTING
  if (settings.devices > kMaxDevices || settings.sms == 0) {
    std::fprintf(stderr,
                 "cuheap-sim: CUHEAP_SIM_DEVICES is at most %d, CUHEAP_SIM_SMS at least 1\n",
                 kMaxDevices);
    settings.valid = false;
  }
  return settings;
}

}  // namespace

const Settings& TheSettings() {
  static const Settings& settings = *new Settings(ReadAll());
  return settings;
}

Settings::EntryPoints ReadWithout() {
  Settings::EntryPoints names;
  const char* text = std::getenv("CUHEAP_SIM_WITHOUT");
  if (text != nullptr) ParseEntryPoints(text, &names);
  return names;
}

}  // namespace cuheap::sim
