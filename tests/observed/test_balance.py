"""Every row of the balance equals a figure that somebody else keeps: torch's snapshot, the simulated device's own list."""
import json
import pathlib

from harness import Job

FIGURES = pathlib.Path(__file__).resolve().parent / "figures.py"
ROWS = ("live", "rounding", "holes", "idle", "waiting", "untracked", "other_processes")


def count(value):
    """What cannot be seen is null and counts as nothing."""
    return value or 0


class Balance(Job):
    def figures(self, **extra):
        out = self.folder / "figures.json"
        self.run_job(FIGURES, out, CUHEAP_SIM_DEVICES=2, CUHEAP_SIM_MEMORY="8G", **extra)
        return json.loads(out.read_text()), self.report("--at", "end")

    def assert_rows_equal(self, torch_figures, report):
        self.assertEqual([device["index"] for device in report["devices"]], [0, 1])
        for row, theirs in zip(report["devices"], torch_figures["devices"]):
            segments = [s for s in torch_figures["segments"] if s["device"] == row["index"]]
            inactive = sum(b["size"] for s in segments for b in s["blocks"] if b["state"] == "inactive")
            self.assertEqual(row["live"], theirs["active"])
            self.assertEqual(count(row["holes"]) + row["idle"], inactive)
            self.assertEqual(row["live"] + row["holes"] + row["idle"], theirs["reserved"])
            self.assertEqual(row["peak_live"], theirs["peak"])
            self.assertEqual(row["used"], theirs["used"])
            self.assertEqual(row["untracked"], sum(theirs["own"].values()))
            self.assertEqual(sum(count(row[name]) for name in ROWS), row["used"])
            blocks = sum(s["live_blocks"] for s in report["sites"] if s["heap"] == "torch" and s["device"] == row["index"])
            self.assertEqual(blocks, theirs["blocks"])
            holes = [s["total_size"] for s in segments if all(b["state"] == "inactive" for b in s["blocks"])]
            if not any(s["is_expandable"] for s in segments):
                self.assertEqual(row["idle"], sum(holes))

    def test_native_segments(self):
        self.assert_rows_equal(*self.figures())

    def test_expandable_segments(self):
        figures, report = self.figures(PYTORCH_ALLOC_CONF="expandable_segments:True")
        self.assertTrue(all(s["is_expandable"] for s in figures["segments"]))
        self.assert_rows_equal(figures, report)

    def test_idle_bytes_are_what_empty_cache_returns(self):
        script = self.folder / "idle.py"
        script.write_text("import json, os, sys, torch\n"
                          "x = [torch.empty(30 << 20, dtype=torch.uint8, device='cuda') for _ in range(8)]\n"
                          "y = torch.empty(100, device='cuda')\n"
                          "del x[2:6]\n"
                          "os._exit(0) if sys.argv[1] == 'before' else None\n"
                          "reserved = torch.cuda.memory_reserved()\n"
                          "torch.cuda.empty_cache()\n"
                          "print(reserved - torch.cuda.memory_reserved(), flush=True)\n"
                          "os._exit(0)\n")
        self.run_job(script, "before")
        returned, _ = self.run_job(script, "after", out="b.cuheap")
        self.assertEqual(self.report("--at", "end")["devices"][0]["idle"], int(returned))
