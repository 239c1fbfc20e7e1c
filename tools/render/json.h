// A report as JSON, schema "cuheap.report/1". Fields are added, never renamed; what is unknown is
// null; sizes are bytes and times nanoseconds since the ledger's start.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "tools/analysis/report.h"

namespace cuheap::render {

nlohmann::ordered_json ToJson(const analysis::Report& report);
// Text of it; bytes that are not UTF-8 are replaced. `indent` < 0: one line.
std::string Dump(const nlohmann::ordered_json& json, int indent);

}  // namespace cuheap::render
