#include "tools/cli/fail_on.h"

#include <algorithm>
#include <array>
#include <sstream>

namespace cuheap::cli {

Result<FailOn> ParseFailOn(const std::string& text) {
  constexpr std::array<const char*, 2> kKnown = {"growing", "late"};
  FailOn words;
  std::istringstream stream(text);
  for (std::string word; std::getline(stream, word, ',');) {
    if (std::find(kKnown.begin(), kKnown.end(), word) == kKnown.end()) {
      return Error{ErrorKind::kAbsent, "--fail-on " + word + ": growing or late"};
    }
    words.insert(word);
  }
  return words;
}

bool Matches(const FailOn& fail_on, const analysis::Report& report) {
  return std::any_of(report.sites.begin(), report.sites.end(), [&](const analysis::SiteRow& row) {
    if (!fail_on.contains(analysis::NameOf(row.judgement.verdict))) return false;
    return row.judgement.verdict != analysis::Verdict::kGrowing ||
           row.judgement.confidence == analysis::Confidence::kHigh;
  });
}

}  // namespace cuheap::cli
