// The events that the nodes of one launch wait for and record.
//
// Laws: 1. A node waits for what its event had recorded last when the graph was launched; the
//          launch itself, with its other branches, does not.
//       2. A record is reached when its node is done; at the latest when the launch ends, in
//          whatever way.
//       3. The logical time of a record covers what is ordered before its node and not what is
//          behind it; where nobody looks for races, it covers what comes before the launch.
// Threads: what is added is added before the launch is submitted. Who runs the launch waits and
// reaches; the queue lock is taken inside.
#pragma once

#include <cuda.h>

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "tests/sim/engine/shared_event.h"
#include "tests/sim/engine/work_queue.h"

namespace cuheap::sim {

struct Event;
struct GraphNode;
struct Queues;

class GraphEvents {
 public:
  void AddWait(const GraphNode& node, const Event& event);
  // Returns the ticket of the record.
  TicketPtr AddRecord(const GraphNode& node, const Event& event);

  void BeginAdvance() { stopped_at_.clear(); }
  // SUCCESS or NOT_READY.
  CUresult Wait(const GraphNode& node);
  void Reach(const GraphNode& node);
  void ReachAll();
  // The waits that were not over since the run began to advance. REQUIRES: nobody runs the launch.
  const std::vector<TicketPtr>& stopped_at() const { return stopped_at_; }

  // Null: there is none.
  TicketPtr WaitOf(const GraphNode& node) const;
  TicketPtr RecordOf(const GraphNode& node) const;
  // The launch goes into `queue`, whose clock covers what comes before it. REQUIRES: queue lock.
  void Place(const Queues& queues, const std::shared_ptr<Queue>& queue) const;
  void AddWaitsTo(VectorClock* clock) const;

 private:
  struct Record {
    TicketPtr ticket;
    SharedEventPtr shared;  // none: the event is of this process only
    std::uint64_t number = 0;
  };

  static void Reach(const Record& record);

  std::map<const GraphNode*, TicketPtr> waits_;
  std::map<const GraphNode*, Record> records_;
  std::vector<TicketPtr> stopped_at_;
};

}  // namespace cuheap::sim
