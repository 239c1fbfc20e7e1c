// --fail-on: findings that change the exit code, so that a CI run can opt in.
#pragma once

#include <set>
#include <string>

#include "tools/analysis/report.h"

namespace cuheap::cli {

using FailOn = std::set<std::string>;

// "growing,late"; the error names the word that is not a finding.
Result<FailOn> ParseFailOn(const std::string& text);

// A growing site counts only with high confidence: CI never fails on a guess.
bool Matches(const FailOn& fail_on, const analysis::Report& report);

}  // namespace cuheap::cli
