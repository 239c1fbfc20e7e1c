// What the runtime says about a function that nobody wrote: one line on stderr, once a function.
#pragma once

namespace cuheap::sim_runtime {

// `said` belongs to the function and starts false. Two threads that race may both speak; that is
// harmless.
void SayMissingOnce(bool* said, const char* name, const char* what);

}  // namespace cuheap::sim_runtime

// The one call of the generated stubs (generate_stubs.py): says the name and leaves
// cudaErrorNotSupported as the last error.
extern "C" int cuheap_sim_missing_runtime_function(bool* said, const char* name);
