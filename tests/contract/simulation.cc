#include "tests/contract/simulation.h"

#include <dlfcn.h>

#include <cstdlib>
#include <string>

namespace cuheap::contract {
namespace {

// The library is there because the simulated driver needs it; nobody loads it for this.
void* Library() { return dlopen("libcuheap_sim.so", RTLD_NOW | RTLD_NOLOAD); }

const SimulationFunctions* Find() {
  static SimulationFunctions found;
  void* const library = Library();
  if (library == nullptr || std::getenv("CUHEAP_CONTRACT_AS_GPU") != nullptr) return nullptr;
#define CUHEAP_CONTRACT_FIND(name) \
  found.name = reinterpret_cast<decltype(found.name)>(dlsym(library, "cuheap_sim_" #name));
  CUHEAP_CONTRACT_SIMULATION(CUHEAP_CONTRACT_FIND)
#undef CUHEAP_CONTRACT_FIND
  return &found;
}

}  // namespace

const SimulationFunctions* Simulation() {
  static const SimulationFunctions* const functions = Find();
  return functions;
}

Clock TheClock() {
  if (Library() == nullptr) return Clock::kDevice;
  const char* const setting = std::getenv("CUHEAP_SIM_CLOCK");
  const std::string clock = setting == nullptr ? "eager" : setting;
  if (clock == "eager") return Clock::kEager;
  return clock == "manual" ? Clock::kManual : Clock::kSeeded;
}

}  // namespace cuheap::contract
