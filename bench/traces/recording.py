"""Records what PyTorch asks of its allocator, as operations for `cuheap replay`.

The history comes from PyTorch (torch.cuda.memory._record_memory_history), with the bytes that were asked for. Steps, and
uses by other streams, are told by the script and placed by their time."""
import bisect
import gzip
import time

import torch


def now_us():
    return time.clock_gettime_ns(time.CLOCK_REALTIME) // 1000


class Recording:
    def __init__(self):
        self.steps = []
        self.uses = []
        torch.cuda.init()
        torch.cuda.memory._record_memory_history(max_entries=4_000_000, context=None, stacks="python")

    def step(self):
        self.steps.append(now_us())

    def record_stream(self, tensor, stream):
        tensor.record_stream(stream)
        self.uses.append((now_us(), tensor.untyped_storage().data_ptr(), stream.cuda_stream))

    def write(self, path):
        snapshot = torch.cuda.memory._snapshot()
        torch.cuda.memory._record_memory_history(enabled=None)
        history = [e for e in snapshot["device_traces"][0] if e["action"] in ("alloc", "free_requested")]
        lines = Operations(self.uses, self.steps).lines(history)
        lines.insert(1, f"# PyTorch {torch.__version__} itself: reserved {torch.cuda.max_memory_reserved()}")
        with open(path, "wb") as file, gzip.GzipFile("", "wb", 9, file, mtime=0) as packed:
            packed.write(("\n".join(lines) + "\n").encode())
        print(f"{path}: {len(lines) - 2} operations")


class Operations:
    """The form is described in tools/replay/ops_text.h."""

    def __init__(self, uses, steps):
        self.uses = uses
        self.steps = steps

    def lines(self, history):
        times = [e["time_us"] for e in history]
        marks = [(bisect.bisect_left(times, t), "s") for t in self.steps]
        marks += [(self.place(history, times, use), use) for use in self.uses]
        marks.sort(key=lambda mark: mark[0])
        streams, live, blocks, where, lines = {0: 0}, {}, 0, 0, ["cuheap-ops 1"]
        for i, event in enumerate([*history, None]):
            while marks and marks[0][0] <= i:
                mark = marks.pop(0)[1]
                if mark == "s":
                    lines.append("s")
                elif mark[1] in live:
                    lines.append(f"u {blocks - live[mark[1]]} {streams.setdefault(mark[2], len(streams))}")
            if event is None:
                break
            if event["action"] == "free_requested":
                if event["addr"] in live:
                    lines.append(f"f {blocks - live.pop(event['addr'])}")
                continue
            stream = streams.setdefault(event["stream"], len(streams))
            if stream != where:
                lines.append(f"@ 0 {stream}")
                where = stream
            lines.append(f"a {max(event['size'], 1)}")
            live[event["addr"]] = blocks
            blocks += 1
        return lines

    @staticmethod
    def place(history, times, use):
        """Behind the last allocation of that address before the time, and before its free."""
        i = bisect.bisect_right(times, use[0] + 50)  # two clocks, some microseconds apart
        for before in range(min(i, len(history)) - 1, -1, -1):
            if history[before]["addr"] == use[1] and history[before]["action"] == "alloc":
                end = before + 1
                while end < len(history) and times[end] <= use[0] and history[end]["addr"] != use[1]:
                    end += 1
                return end
        return len(history)
