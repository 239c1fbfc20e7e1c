#include "tools/analysis/notes.h"

#include <fmt/format.h>

#include <set>

#include "tools/analysis/words.h"

namespace cuheap::analysis {
namespace {

using Sentences = std::vector<std::string>;
using trace::Trace;

void NoteUnseen(const Report& report, Sentences* notes) {
  std::set<std::string> requests;
  std::set<std::string> waiting;
  for (const Balance& balance : report.balances) {
    for (const HeapRow& row : balance.heaps) {
      if (!row.in_used || row.reserved() == 0) continue;
      if (!row.rounding.has_value()) requests.insert(row.name);
      if (!row.waiting.has_value()) waiting.insert(row.name);
    }
  }
  for (const std::string& heap : requests) {
    notes->push_back(fmt::format(
        "{}: requested bytes are not seen, so live means block bytes and rounding is unknown",
        heap));
  }
  for (const std::string& heap : waiting) {
    notes->push_back(
        fmt::format("{}: memory that waits for a stream is not seen, it lies in holes", heap));
  }
}

void NoteUsed(const Report& report, Sentences* notes) {
  for (const Balance& balance : report.balances) {
    if (!balance.used.has_value()) {
      notes->push_back(fmt::format(
          "device {}: used memory was never sampled, so untracked is unknown", balance.device));
    } else if (balance.untracked.value_or(0) < 0) {
      notes->push_back(fmt::format(
          "device {}: the sample of used memory is older than memory taken since, so untracked is "
          "below zero",
          balance.device));
    }
    for (const auto& [heap, figures] : balance.fragmentation) {
      if (figures.outside == 0) continue;
      notes->push_back(fmt::format("device {}: {} of {} lie in no known segment", balance.device,
                                   SizeText(static_cast<double>(figures.outside)),
                                   report.trace->dictionary.heap_name(heap)));
    }
  }
  if (!report.balances.empty()) {
    notes->push_back("memory of other processes is not told apart: it is in untracked");
  }
}

void NoteGrowth(const Report& report, Sentences* notes) {
  for (std::size_t i = 0; i < report.balances.size(); ++i) {
    if (!report.untracked_growth[i].has_value()) continue;
    notes->push_back(fmt::format("warning: untracked memory of device {} grows by {} a step",
                                 report.balances[i].device, SizeText(*report.untracked_growth[i])));
  }
}

void NoteSteps(const Report& report, Sentences* notes) {
  const Horizon& horizon = report.horizon;
  if (horizon.last_step == 0) {
    notes->push_back("no step end was seen: growth cannot be judged");
  } else if (horizon.judged_steps() < kLeastJudgedSteps) {
    notes->push_back(fmt::format("too short to judge: {} after {} of warm-up, {} are needed",
                                 CountText(horizon.judged_steps(), "step", "steps"), horizon.warmup,
                                 kLeastJudgedSteps));
  } else if (horizon.last_step < kLeastConfidentSteps) {
    notes->push_back(
        fmt::format("below {} steps confidence is at most medium", kLeastConfidentSteps));
  }
}

void NoteStacks(const Trace& trace, Sentences* notes) {
  switch (trace.identity.python_frames) {
    case format::PythonFrames::kUnchecked:
      notes->push_back("Python frames were not compared with the interpreter's own: unchecked");
      break;
    case format::PythonFrames::kDiffer:
    case format::PythonFrames::kUnsupported:
    case format::PythonFrames::kOff:
      notes->push_back(
          fmt::format("Python frames {}", trace::NameOf(trace.identity.python_frames)));
      break;
    default:
      break;
  }
}

// What was dropped without making the verdicts wrong; drops that do are in MissingFrom.
void NoteDrops(const Trace& trace, Sentences* notes) {
#define CUHEAP_DROP(counter, what) \
  if (trace.dropped.counter != 0)  \
    notes->push_back(fmt::format("{} {}", trace.dropped.counter, what));
  CUHEAP_DROPS(CUHEAP_DROP)
#undef CUHEAP_DROP
}

}  // namespace

Sentences MissingFrom(const Trace& trace) {
  Sentences missing;
  const trace::Completeness& state = trace.completeness;
  if (!state.instead.empty()) {
    missing.push_back(fmt::format(
        "the file is gone (its machine or container lost it): this is its last checkpoint, {}",
        state.instead));
  }
  const std::string last = TimeText(trace.last_event_time);
  if (state.running) {
    missing.push_back(fmt::format("process {} is still running: this is its state at {}",
                                  trace.identity.pid, last));
  } else if (!state.clean_close) {
    missing.push_back(
        fmt::format("the process did not close the file: last record at {}, {} dropped", last,
                    CountText(trace.dropped.blocks, "allocation", "allocations")));
  }
  if (state.cut) {
    missing.push_back(fmt::format("the file is cut at {} of {} bytes: what stood behind is missing",
                                  state.cut_at, state.expected_bytes));
  }
  if (trace.dropped.blocks != 0 && (state.clean_close || state.running)) {
    missing.push_back(fmt::format("{} of {} found no room in the file",
                                  CountText(trace.dropped.blocks, "allocation", "allocations"),
                                  SizeText(static_cast<double>(trace.dropped.block_bytes))));
  }
  if (state.damaged_records != 0) {
    missing.push_back(fmt::format("{} damaged and left out",
                                  CountText(state.damaged_records, "record is", "records are")));
  }
  return missing;
}

Sentences NotesOn(const Report& report) {
  Sentences notes;
  if (!report.view.note.empty()) notes.push_back(report.view.note);
  NoteSteps(report, &notes);
  NoteGrowth(report, &notes);
  NoteUnseen(report, &notes);
  NoteUsed(report, &notes);
  NoteStacks(*report.trace, &notes);
  NoteDrops(*report.trace, &notes);
  return notes;
}

}  // namespace cuheap::analysis
