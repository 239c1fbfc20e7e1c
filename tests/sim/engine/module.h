// Code objects. Any image is accepted and none is read: a function exists because it is asked for,
// a global because it was declared (sim_api.h). CUmodule and CUlibrary are the same object here,
// and so are CUfunction and CUkernel.
#pragma once

#include <cuda.h>

#include <atomic>
#include <map>
#include <memory>
#include <string>

#include "tests/sim/engine/context.h"
#include "tests/sim/engine/handle_pool.h"
#include "tests/sim/engine/operation.h"

namespace cuheap::sim {

struct Module;

struct Function {
  std::string name;
  Module* module = nullptr;
  std::atomic<int> max_dynamic_shared{48 << 10};
  std::atomic<int> carveout{-1};
};

struct Global {
  std::uint64_t bytes = 0;
  std::map<std::uint64_t, std::uintptr_t> address_in;  // by context id
};

// A __managed__ variable: one for all contexts.
struct ManagedVariable {
  std::uint64_t bytes = 0;
  std::uintptr_t address = 0;
};

struct Module {
  // Where it was loaded, and with which it goes; null for a library, which belongs to none.
  Context* context = nullptr;
  std::map<std::string, Function*> functions;
  std::map<std::string, ManagedVariable> managed;
  std::map<std::string, Global> globals;
};

HandlePool<Module>& Modules();
HandlePool<Function>& Functions();
void UnloadModule(Module* module);
void UnloadModulesOf(const Context* context);
Function* FunctionOf(Module* module, const char* name);
bool DeclareGlobal(Module* module, const char* name, std::uint64_t bytes);
bool DeclareManaged(Module* module, const char* name, std::uint64_t bytes);
// NOT_FOUND: never declared. The memory is made on first use.
CUresult AddressOfManaged(Module* module, const char* name, std::uintptr_t* out,
                          std::uint64_t* bytes);
// NOT_FOUND: never declared. The memory is made on first use in a context.
CUresult AddressOfGlobal(Module* module, Context* context, const char* name, std::uintptr_t* out,
                         std::uint64_t* bytes);

CUresult GetFunctionAttribute(const Function& function, CUfunction_attribute attribute, int* out);
CUresult SetFunctionAttribute(Function* function, CUfunction_attribute attribute, int value);
// Blocks of one multiprocessor; 0 when such a block does not fit.
int ResidentBlocks(int block_threads, std::size_t shared_bytes);
// INVALID_VALUE, INVALID_HANDLE or COOPERATIVE_LAUNCH_TOO_LARGE.
CUresult CheckLaunch(const KernelOp& kernel, bool cooperative);

}  // namespace cuheap::sim
