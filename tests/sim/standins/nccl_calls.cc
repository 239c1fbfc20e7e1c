#include "tests/sim/standins/nccl_calls.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>

#include "tests/sim/standins/nccl_work.h"

namespace cuheap::sim_standin {

struct PendingCall {
  NcclCall call;
  bool done = false;
  int status = 0;
};
using PendingPtr = std::shared_ptr<PendingCall>;

struct NcclClique {
  explicit NcclClique(int count) : ranks(count), collectives(static_cast<std::size_t>(count)) {}
  const int ranks;
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<bool> joined = std::vector<bool>(static_cast<std::size_t>(ranks));
  std::vector<std::deque<PendingPtr>> collectives;  // of each rank, in its order
  std::deque<PendingPtr> messages;                  // that wait for the other end
};

namespace {

constexpr std::chrono::seconds kPatience{30};

struct Group {
  int depth = 0;
  std::vector<NcclCall> calls;
  std::vector<std::shared_ptr<NcclClique>> joined;
};
thread_local Group group;

NcclClique& CliqueOf(const NcclCall& call) { return *call.communicator->clique; }

bool Agree(const NcclCall& a, const NcclCall& b) {
  return a.kind == b.kind && a.count == b.count && a.type == b.type && a.operation == b.operation &&
         a.peer == b.peer;
}

// Of all ranks, or of the two ends of a message.
void Finish(NcclClique& clique, const std::vector<PendingPtr>& together) {
  std::vector<NcclCall> calls;
  bool agree = true;
  for (const PendingPtr& pending : together) {
    calls.push_back(pending->call);
    const bool message = pending->call.kind == NcclKind::kMessage;
    agree = agree &&
            (message ? pending->call.count == calls[0].count && pending->call.type == calls[0].type
                     : Agree(pending->call, calls[0]));
  }
  const int status = agree ? RunTogether(calls) : kNcclInvalidUsage;
  for (const PendingPtr& pending : together) {
    pending->status = status;
    pending->done = true;
  }
  clique.changed.notify_all();
}

// REQUIRES: the clique's lock, as the two below.
void RunCollectives(NcclClique& clique) {
  const auto ready = [](const std::deque<PendingPtr>& calls) { return !calls.empty(); };
  while (std::all_of(clique.collectives.begin(), clique.collectives.end(), ready)) {
    std::vector<PendingPtr> together;
    for (std::deque<PendingPtr>& calls : clique.collectives) {
      together.push_back(calls.front());
      calls.pop_front();
    }
    Finish(clique, together);
  }
}

void SendOrReceive(NcclClique& clique, const PendingPtr& mine) {
  const NcclCall& call = mine->call;
  const auto other =
      std::find_if(clique.messages.begin(), clique.messages.end(), [&](const PendingPtr& waiting) {
        return waiting->call.sends != call.sends && waiting->call.peer == call.communicator->rank &&
               waiting->call.communicator->rank == call.peer;
      });
  if (other == clique.messages.end()) {
    clique.messages.push_back(mine);
    return;
  }
  const PendingPtr found = *other;
  clique.messages.erase(other);
  Finish(clique, call.sends ? std::vector{mine, found} : std::vector{found, mine});
}

PendingPtr Post(const NcclCall& call) {
  auto pending = std::make_shared<PendingCall>(PendingCall{call});
  NcclClique& clique = CliqueOf(call);
  const std::lock_guard lock(clique.mutex);
  if (call.kind == NcclKind::kMessage) {
    SendOrReceive(clique, pending);
  } else {
    clique.collectives[static_cast<std::size_t>(call.communicator->rank)].push_back(pending);
    RunCollectives(clique);
  }
  return pending;
}

int Await(NcclClique& clique, const PendingCall& pending) {
  static bool said = false;
  std::unique_lock lock(clique.mutex);
  const auto done = [&] { return pending.done; };
  if (!clique.changed.wait_for(lock, kPatience, done)) {
    SayOnce(&said, "a call of NCCL waits for another rank of this process");
    clique.changed.wait(lock, done);
  }
  return pending.status;
}

int AwaitRanks(NcclClique& clique) {
  static bool said = false;
  std::unique_lock lock(clique.mutex);
  const auto complete = [&] {
    return std::all_of(clique.joined.begin(), clique.joined.end(), [](bool here) { return here; });
  };
  if (clique.changed.wait_for(lock, kPatience, complete)) return 0;
  SayOnce(&said, "a rank did not come: NCCL's stand-in has no communicators of several processes");
  return kNcclSystemError;
}

std::shared_ptr<NcclClique> FindClique(std::uint64_t identity, int ranks) {
  static std::mutex mutex;
  static auto& cliques = *new std::map<std::uint64_t, std::weak_ptr<NcclClique>>;
  const std::lock_guard lock(mutex);
  std::shared_ptr<NcclClique> clique = cliques[identity].lock();
  if (clique == nullptr) cliques[identity] = clique = std::make_shared<NcclClique>(ranks);
  return clique;
}

}  // namespace

int RanksOf(const NcclCommunicator& communicator) { return communicator.clique->ranks; }

int Join(std::uint64_t identity, int ranks, int rank, NcclCommunicator* communicator) {
  if (ranks < 1 || rank < 0 || rank >= ranks) return kNcclInvalidArgument;
  const std::shared_ptr<NcclClique> clique = FindClique(identity, ranks);
  {
    const std::lock_guard lock(clique->mutex);
    if (clique->ranks != ranks || clique->joined[static_cast<std::size_t>(rank)])
      return kNcclInvalidUsage;
    clique->joined[static_cast<std::size_t>(rank)] = true;
    clique->changed.notify_all();
  }
  communicator->rank = rank;
  communicator->clique = clique;
  if (group.depth == 0) return AwaitRanks(*clique);
  group.joined.push_back(clique);
  return 0;
}

int Submit(const NcclCall& call) {
  StartGroup();
  group.calls.push_back(call);
  return EndGroup();
}

void StartGroup() { ++group.depth; }

int EndGroup() {
  if (group.depth == 0) return kNcclInvalidUsage;
  if (--group.depth > 0) return 0;
  const Group ended = std::move(group);
  group = {};
  int status = 0;
  for (const auto& clique : ended.joined) status = std::max(status, AwaitRanks(*clique));
  std::vector<PendingPtr> posted;
  for (const NcclCall& call : ended.calls) posted.push_back(Post(call));
  for (const PendingPtr& pending : posted)
    status = std::max(status, Await(CliqueOf(pending->call), *pending));
  return status;
}

}  // namespace cuheap::sim_standin
