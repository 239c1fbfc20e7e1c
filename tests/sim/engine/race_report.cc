#include "tests/sim/engine/race_report.h"

#include <fcntl.h>
#include <unistd.h>

#include <cinttypes>
#include <cstdio>
#include <mutex>
#include <set>
#include <tuple>

#include "tests/sim/engine/settings.h"

namespace cuheap::sim {
namespace {

struct Reports {
  std::mutex mutex;
  std::set<std::tuple<StackId, StackId, AccessKind, AccessKind>> seen;
  std::uint64_t count = 0;
  std::string last;
};

Reports& TheReports() {
  static auto& reports = *new Reports;
  return reports;
}

const char* Verb(AccessKind kind) {
  switch (kind) {
    case AccessKind::kRead:
      return "reads";
    case AccessKind::kWrite:
      return "writes";
    case AccessKind::kAllocation:
      return "allocates";
    case AccessKind::kFree:
      return "ends";
  }
  return "";
}

std::string Side(const char* which, const AccessRecord& access) {
  char line[256];
  if (access.stream_id == 0) {
    std::snprintf(line, sizeof line, "  %s: the host %s it\n", which, Verb(access.kind));
  } else {
    std::snprintf(line, sizeof line, "  %s: a %s %s it in stream %" PRIu64 "\n", which,
                  access.what.c_str(), Verb(access.kind), access.stream_id);
  }
  return line + CallStackText(access.stack, "      ");
}

std::string Text(const Race& race) {
  char line[256];
  std::snprintf(line, sizeof line,
                "cuheap-sim: race on %#" PRIxPTR " (%" PRIu64 " bytes): nothing orders these two\n",
                race.range.base, race.range.bytes);
  return line + Side("first", race.first) + Side("second", race.second);
}

void Append(const std::string& path, const std::string& text) {
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (file < 0) return std::perror("cuheap-sim: CUHEAP_SIM_RACES");
  if (write(file, text.data(), text.size()) < 0) std::perror("cuheap-sim: CUHEAP_SIM_RACES");
  close(file);
}

}  // namespace

void ReportRace(const Race& race) {
  Reports& reports = TheReports();
  const std::lock_guard<std::mutex> guard(reports.mutex);
  const auto key =
      std::make_tuple(race.first.stack, race.second.stack, race.first.kind, race.second.kind);
  if (!reports.seen.insert(key).second) return;
  ++reports.count;
  reports.last = Text(race);
  std::fputs(reports.last.c_str(), stderr);
  if (!TheSettings().races.empty()) Append(TheSettings().races, reports.last);
}

std::uint64_t RacesReported() {
  const std::lock_guard<std::mutex> guard(TheReports().mutex);
  return TheReports().count;
}

std::string LastRace() {
  const std::lock_guard<std::mutex> guard(TheReports().mutex);
  return TheReports().last;
}

void ForgetRaces() {
  Reports& reports = TheReports();
  const std::lock_guard<std::mutex> guard(reports.mutex);
  reports.seen.clear();
  reports.count = 0;
  reports.last.clear();
}

}  // namespace cuheap::sim
