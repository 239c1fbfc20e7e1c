"""What is recorded of a PyTorch job, replayed by PyTorch's rules, reserves what PyTorch did."""
import unittest

from harness import Job

SCRIPT = """
import random, sys
import torch
random.seed(5)
torch.cuda.memory._record_memory_history()
kept = []
for step in range(400):
    kept.append(torch.empty(random.choice([10, 3000, 300_000, 2_000_000, 9_000_000]) + random.randint(0, 999), device="cuda"))
    if len(kept) > 30:
        kept.pop(random.randrange(30))
torch.cuda.memory._dump_snapshot(sys.argv[1] + "/snapshot.pickle")
print(torch.cuda.max_memory_reserved())
"""


class ReplayTest(Job):
    def setUp(self):
        super().setUp()
        script = self.folder / "job.py"
        script.write_text(SCRIPT)
        output, _ = self.run_job(script, self.folder, flags=("--mode", "full"), CUHEAP_SIM_MEMORY="8G", CUHEAP_SIM_DEVICES=1)
        self.reserved = int(output)

    def row(self, name, *flags):
        text = self.cuheap("replay", "--policy", "torch", *flags, self.folder / name)
        row = next(line for line in text.splitlines() if line.startswith("torch "))
        return text, row

    def reserved_text(self):
        gib = self.reserved / 2**30
        return f"{gib:.3f} GiB" if gib >= 1 else f"{self.reserved / 2**20:.1f} MiB"

    def test_a_snapshot_and_the_events_give_what_pytorch_reserved(self):
        for name in ("snapshot.pickle", "a.cuheap"):
            text, row = self.row(name)
            self.assertIn("400 allocations", text)
            self.assertIn(f"  {self.reserved_text()}  ", row, name)

    def test_the_segments_are_the_drivers_blocks(self):
        _, row = self.row("a.cuheap", "--heap", "driver")
        self.assertIn(self.reserved_text(), row)


if __name__ == "__main__":
    unittest.main()
