// NCCL: collectives, messages and groups, as a program calls them.
#include "tests/sim/standins/nccl_calls.h"

using namespace cuheap::sim_standin;

namespace {

struct Where {
  Handle communicator;
  Stream stream;
};

int Call(NcclCall call, const Where& where) {
  call.communicator = static_cast<NcclCommunicator*>(where.communicator);
  call.stream = where.stream;
  if (call.communicator == nullptr) return kNcclInvalidArgument;
  if (call.peer < 0 || call.peer >= RanksOf(*call.communicator)) return kNcclInvalidArgument;
  return Submit(call);
}

}  // namespace

CUHEAP_STANDIN int ncclAllReduce(const void* send, void* receive, std::size_t count, int type,
                                 int operation, Handle communicator, Stream stream) {
  return Call({NcclKind::kAllReduce, send, receive, count, type, operation},
              {communicator, stream});
}
CUHEAP_STANDIN int ncclReduce(const void* send, void* receive, std::size_t count, int type,
                              int operation, int root, Handle communicator, Stream stream) {
  return Call({NcclKind::kReduce, send, receive, count, type, operation, root},
              {communicator, stream});
}
CUHEAP_STANDIN int ncclBroadcast(const void* send, void* receive, std::size_t count, int type,
                                 int root, Handle communicator, Stream stream) {
  return Call({NcclKind::kBroadcast, send, receive, count, type, 0, root}, {communicator, stream});
}
CUHEAP_STANDIN int ncclBcast(void* buffer, std::size_t count, int type, int root,
                             Handle communicator, Stream stream) {
  return ncclBroadcast(buffer, buffer, count, type, root, communicator, stream);
}
CUHEAP_STANDIN int ncclAllGather(const void* send, void* receive, std::size_t count, int type,
                                 Handle communicator, Stream stream) {
  return Call({NcclKind::kAllGather, send, receive, count, type}, {communicator, stream});
}
CUHEAP_STANDIN int ncclReduceScatter(const void* send, void* receive, std::size_t count, int type,
                                     int operation, Handle communicator, Stream stream) {
  return Call({NcclKind::kReduceScatter, send, receive, count, type, operation},
              {communicator, stream});
}
CUHEAP_STANDIN int ncclAlltoAll(const void* send, void* receive, std::size_t count, int type,
                                Handle communicator, Stream stream) {
  return Call({NcclKind::kAllToAll, send, receive, count, type}, {communicator, stream});
}
CUHEAP_STANDIN int ncclGather(const void* send, void* receive, std::size_t count, int type,
                              int root, Handle communicator, Stream stream) {
  return Call({NcclKind::kGather, send, receive, count, type, 0, root}, {communicator, stream});
}
CUHEAP_STANDIN int ncclScatter(const void* send, void* receive, std::size_t count, int type,
                               int root, Handle communicator, Stream stream) {
  return Call({NcclKind::kScatter, send, receive, count, type, 0, root}, {communicator, stream});
}
CUHEAP_STANDIN int ncclSend(const void* send, std::size_t count, int type, int peer,
                            Handle communicator, Stream stream) {
  return Call({NcclKind::kMessage, send, nullptr, count, type, 0, peer, true},
              {communicator, stream});
}
CUHEAP_STANDIN int ncclRecv(void* receive, std::size_t count, int type, int peer,
                            Handle communicator, Stream stream) {
  return Call({NcclKind::kMessage, nullptr, receive, count, type, 0, peer}, {communicator, stream});
}

CUHEAP_STANDIN int ncclGroupStart() {
  StartGroup();
  return 0;
}
CUHEAP_STANDIN int ncclGroupEnd() { return EndGroup(); }
