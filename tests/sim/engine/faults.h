// Calls that fail on purpose. A rule names a function (or any), which of its calls fails (the n-th,
// or each), and the code; it is armed by CUHEAP_SIM_FAULTS or by a test (sim_api.h).
//
// CUHEAP_SIM_FAULTS=cuMemAlloc:3=2,cuEventRecord:*=700,*:100=999
//   FUNCTION:CALL=CODE with commas between. FUNCTION: a base name, or * for any function. CALL: a
//   number from 1, or * for each call. CODE: a CUresult from 1 to 9999; codes that this version of
//   CUDA does not know are accepted, since newer drivers return such.
//
// Laws: 1. A call that fails on purpose does no work and leaves its out-parameters alone.
//       2. A rule counts the calls it names from the moment it is armed, in whichever ABI; a forked
//          child counts anew.
//       3. A call that the gate refuses (before cuInit, say) is not counted.
//       4. Every rule counts a call, also when another has failed it; the first armed one decides.
// Threads: any.
#pragma once

#include <cuda.h>

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace cuheap::sim {

enum class DriverFunction : int;

inline constexpr std::uint64_t kEachCall = 0;

struct FaultRule {
  std::optional<DriverFunction> function;  // none: any function
  std::uint64_t call = kEachCall;
  CUresult code = CUDA_ERROR_UNKNOWN;
};

// False, and `out` untouched: the text does not follow the grammar or names no driver function.
bool ParseFaults(std::string_view text, std::vector<FaultRule>* out);
bool IsFaultCode(long long code);

void ArmFault(const FaultRule& rule);
// Forgets the rules and the counts.
void ClearFaults();

// Counts a call of the function. SUCCESS: no rule fails it.
CUresult FaultOf(DriverFunction function);

// Since the last ClearFaults.
std::uint64_t FaultsFired();
std::uint64_t CallsCounted(std::optional<DriverFunction> function);
// The function that failed last, null when none did.
const char* LastFaulted();

}  // namespace cuheap::sim
