// Collectives and messages of NCCL between the ranks of one process. Each call is one operation for
// all its ranks: it comes after what each of them has queued, does the work on their memory, and
// everything queued later comes after it.
//
// Laws: 1. Ranks call in the same order. A call runs when the last of its ranks has called, and
//          until then the others wait on the host, at the call or at the end of their group.
//       2. Calls of one rank must agree with those of the others in everything but addresses.
// Threads: any. No lock is held by callers.
#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <vector>

#include "tests/sim/standins/standin.h"

namespace cuheap::sim_standin {

// ncclResult_t.
inline constexpr int kNcclUnhandledCudaError = 1;
inline constexpr int kNcclSystemError = 2;
inline constexpr int kNcclInvalidArgument = 4;
inline constexpr int kNcclInvalidUsage = 5;

enum class NcclKind {
  kAllReduce,
  kReduce,
  kBroadcast,
  kAllGather,
  kReduceScatter,
  kAllToAll,
  kGather,
  kScatter,
  kMessage,  // one sends and one receives
};

struct NcclClique;

struct NcclCommunicator {
  int rank = 0;
  int device = 0;
  void* context = nullptr;
  bool retained = false;  // the context, of its device
  std::shared_ptr<NcclClique> clique;
};

struct NcclCall {
  NcclKind kind;
  const void* send;
  void* receive;
  std::size_t count;  // elements that one rank gives to, or gets from, one rank
  int type;
  int operation = 0;
  int peer = 0;  // the root, or the other end of a message
  bool sends = false;
  NcclCommunicator* communicator = nullptr;
  Stream stream = nullptr;
};

// Runs the call, or keeps it until the thread's group ends. An ncclResult_t.
int Submit(const NcclCall& call);
void StartGroup();
int EndGroup();

// A communicator for `rank` of the `ranks` that name the same clique: an identity, in this process.
// Waits for the other ranks, at the end of a group if there is one.
int Join(std::uint64_t clique, int ranks, int rank, NcclCommunicator* communicator);
int RanksOf(const NcclCommunicator& communicator);

}  // namespace cuheap::sim_standin
