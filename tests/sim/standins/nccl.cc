// NCCL inside one process: communicators. Those of several processes are refused: an identity says
// which process it comes from.
#include <unistd.h>

#include <atomic>

#include "tests/sim/standins/driver.h"
#include "tests/sim/standins/nccl_calls.h"

using namespace cuheap::sim_standin;

namespace {

constexpr int kVersion = 23007;

struct UniqueId {
  std::uint64_t process;
  std::uint64_t clique;
  char rest[112];
};
static_assert(sizeof(UniqueId) == 128, "layout of ncclUniqueId");

std::uint64_t NewClique() {
  static std::atomic<std::uint64_t> last{0};
  return ++last;
}

// The context in which a rank works: the current one, or as for a runtime of its own, that of the
// first device.
int FindContext(NcclCommunicator* communicator) {
  static const auto current = DriverFunction<int(void**)>("cuCtxGetCurrent");
  static const auto device_of = DriverFunction<int(int*)>("cuCtxGetDevice");
  static const auto retain = DriverFunction<int(void**, int)>("cuDevicePrimaryCtxRetain");
  const int found = current(&communicator->context);
  if (found == 0 && communicator->context != nullptr)
    return device_of(&communicator->device) == 0 ? 0 : kNcclUnhandledCudaError;
  communicator->retained = retain(&communicator->context, communicator->device) == 0;
  return communicator->retained ? 0 : kNcclUnhandledCudaError;
}

void Leave(NcclCommunicator* communicator) {
  static const auto release = DriverFunction<int(int)>("cuDevicePrimaryCtxRelease_v2");
  if (communicator->retained) release(communicator->device);
  delete communicator;
}

int NewCommunicator(Handle* out, int ranks, const UniqueId& id, int rank) {
  static bool said = false;
  if (out == nullptr) return kNcclInvalidArgument;
  if (id.process != static_cast<std::uint64_t>(getpid())) {
    SayOnce(&said, "NCCL's stand-in has no communicators of several processes");
    return kNcclInvalidUsage;
  }
  auto communicator = std::make_unique<NcclCommunicator>();
  int status = FindContext(communicator.get());
  if (status == 0) status = Join(id.clique, ranks, rank, communicator.get());
  if (status != 0) {
    Leave(communicator.release());
    return status;
  }
  *out = communicator.release();
  return 0;
}

NcclCommunicator* OfDevice(int device) {
  static const auto retain = DriverFunction<int(void**, int)>("cuDevicePrimaryCtxRetain");
  auto communicator = std::make_unique<NcclCommunicator>();
  communicator->device = device;
  communicator->retained = retain(&communicator->context, device) == 0;
  return communicator->retained ? communicator.release() : nullptr;
}

int Delete(Handle communicator) {
  if (communicator != nullptr) Leave(static_cast<NcclCommunicator*>(communicator));
  return 0;
}

}  // namespace

CUHEAP_STANDIN int ncclGetVersion(int* version) {
  if (version == nullptr) return kNcclInvalidArgument;
  *version = kVersion;
  return 0;
}
CUHEAP_STANDIN const char* ncclGetErrorString(int status) {
  return status == 0 ? "no error" : "refused by the simulated device's stand-in";
}
CUHEAP_STANDIN const char* ncclGetLastError(Handle) { return ""; }
CUHEAP_STANDIN int ncclGetUniqueId(UniqueId* id) {
  if (id == nullptr) return kNcclInvalidArgument;
  *id = UniqueId{static_cast<std::uint64_t>(getpid()), NewClique(), {}};
  return 0;
}

CUHEAP_STANDIN int ncclCommInitAll(Handle* communicators, int devices, const int* numbers) {
  if (communicators == nullptr || devices < 1) return kNcclInvalidArgument;
  const std::uint64_t clique = NewClique();
  int status = 0;
  StartGroup();
  for (int i = 0; i < devices && status == 0; ++i) {
    NcclCommunicator* communicator = OfDevice(numbers == nullptr ? i : numbers[i]);
    status =
        communicator == nullptr ? kNcclUnhandledCudaError : Join(clique, devices, i, communicator);
    communicators[i] = communicator;
  }
  const int ended = EndGroup();
  return status == 0 ? ended : status;
}
CUHEAP_STANDIN int ncclCommInitRank(Handle* communicator, int ranks, UniqueId id, int rank) {
  return NewCommunicator(communicator, ranks, id, rank);
}
CUHEAP_STANDIN int ncclCommInitRankConfig(Handle* communicator, int ranks, UniqueId id, int rank,
                                          void*) {
  return NewCommunicator(communicator, ranks, id, rank);
}
CUHEAP_STANDIN int ncclCommInitRankScalable(Handle* communicator, int ranks, int rank, int ids,
                                            UniqueId* id, void*) {
  if (ids < 1 || id == nullptr) return kNcclInvalidArgument;
  return NewCommunicator(communicator, ranks, id[0], rank);
}
CUHEAP_STANDIN int ncclCommFinalize(Handle communicator) {
  return communicator == nullptr ? kNcclInvalidArgument : 0;
}
CUHEAP_STANDIN int ncclCommDestroy(Handle communicator) { return Delete(communicator); }
CUHEAP_STANDIN int ncclCommAbort(Handle communicator) { return Delete(communicator); }
CUHEAP_STANDIN int ncclCommCount(Handle communicator, int* count) {
  if (communicator == nullptr || count == nullptr) return kNcclInvalidArgument;
  *count = RanksOf(*static_cast<NcclCommunicator*>(communicator));
  return 0;
}
CUHEAP_STANDIN int ncclCommUserRank(Handle communicator, int* rank) {
  if (communicator == nullptr || rank == nullptr) return kNcclInvalidArgument;
  *rank = static_cast<NcclCommunicator*>(communicator)->rank;
  return 0;
}
CUHEAP_STANDIN int ncclCommCuDevice(Handle communicator, int* device) {
  if (communicator == nullptr || device == nullptr) return kNcclInvalidArgument;
  *device = static_cast<NcclCommunicator*>(communicator)->device;
  return 0;
}
CUHEAP_STANDIN int ncclCommGetAsyncError(Handle, int* error) {
  *error = 0;
  return 0;
}
CUHEAP_STANDIN int ncclCommRegister(Handle, void*, std::size_t, Handle* registration) {
  *registration = nullptr;  // as where nothing is gained by registering
  return 0;
}
