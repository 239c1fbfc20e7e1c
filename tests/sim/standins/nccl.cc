// NCCL inside one process: communicators exist, collectives compute nothing. Groups of several
// processes are refused.
#include "tests/sim/standins/standin.h"

using namespace cuheap::sim_standin;

namespace {

constexpr int kVersion = 23007;
constexpr int kInvalidUsage = 5;

struct Communicator {
  int rank;
  int ranks;
  int device;
};

struct UniqueId {
  char bytes[128];
};

int CreateCommunicator(Handle* communicator, int ranks, int rank) {
  static bool said = false;
  if (ranks != 1) {
    SayOnce(&said, "NCCL's stand-in has no communicators of several processes");
    return kInvalidUsage;
  }
  *communicator = new Communicator{rank, ranks, 0};
  return 0;
}

}  // namespace

CUHEAP_STANDIN int ncclGetVersion(int* version) {
  *version = kVersion;
  return 0;
}
CUHEAP_STANDIN const char* ncclGetErrorString(int status) {
  return status == 0 ? "no error" : "refused by the simulated device's stand-in";
}
CUHEAP_STANDIN const char* ncclGetLastError(Handle) { return ""; }
CUHEAP_STANDIN int ncclGetUniqueId(UniqueId* id) {
  *id = UniqueId{};
  return 0;
}

CUHEAP_STANDIN int ncclCommInitAll(Handle* communicators, int devices, const int* numbers) {
  for (int i = 0; i < devices; ++i) {
    communicators[i] = new Communicator{i, devices, numbers == nullptr ? i : numbers[i]};
  }
  return 0;
}
CUHEAP_STANDIN int ncclCommInitRank(Handle* communicator, int ranks, UniqueId, int rank) {
  return CreateCommunicator(communicator, ranks, rank);
}
CUHEAP_STANDIN int ncclCommInitRankConfig(Handle* communicator, int ranks, UniqueId, int rank,
                                          void*) {
  return CreateCommunicator(communicator, ranks, rank);
}
CUHEAP_STANDIN int ncclCommInitRankScalable(Handle* communicator, int ranks, int rank, int,
                                            UniqueId*, void*) {
  return CreateCommunicator(communicator, ranks, rank);
}
CUHEAP_STANDIN int ncclCommDestroy(Handle communicator) {
  return Destroy<Communicator>(communicator);
}
CUHEAP_STANDIN int ncclCommAbort(Handle communicator) {
  return Destroy<Communicator>(communicator);
}
CUHEAP_STANDIN int ncclCommCount(Handle communicator, int* count) {
  *count = static_cast<Communicator*>(communicator)->ranks;
  return 0;
}
CUHEAP_STANDIN int ncclCommUserRank(Handle communicator, int* rank) {
  *rank = static_cast<Communicator*>(communicator)->rank;
  return 0;
}
CUHEAP_STANDIN int ncclCommGetAsyncError(Handle, int* error) {
  *error = 0;
  return 0;
}
CUHEAP_STANDIN int ncclCommRegister(Handle, void*, std::size_t, Handle* registration) {
  *registration = nullptr;
  return 0;
}
