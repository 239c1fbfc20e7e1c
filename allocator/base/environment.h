// The one place that reads environment variables. Call it at start-up only: reading races with
// setenv.
#pragma once

namespace cuheap {

// The value, or nullptr when the variable is not set. Points into the process's environment.
const char* EnvironmentValue(const char* name);

// All variables as "NAME=value", ended by nullptr; nullptr when there is no environment at all.
const char* const* Environment();

}  // namespace cuheap
