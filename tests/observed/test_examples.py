"""The examples: the leak is named, by line, however the job ends, and nothing else is."""
import os
import pathlib
import signal
import time

from harness import ROOT, Job, line_of, place

LEAKY = ROOT / "examples/leaky_train.py"
HEALTHY = ROOT / "examples/healthy_train.py"
# The block that the list keeps is born where `error` is computed; the append allocates nothing.
LEAK = f"leaky_train.py:{line_of(LEAKY, 'error = model(batch)')}"


class Examples(Job):
    def growing(self, report):
        return [site for site in report["sites"] if site["verdict"] == "growing"]

    def assert_names_the_leak(self, report):
        sites = self.growing(report)
        self.assertEqual([place(site["frames"][0]) for site in sites], [LEAK], report["notes"])
        self.assertEqual(sites[0]["growth_bytes_per_step"], 4 << 20)
        return sites[0]

    def test_the_leak_and_only_the_leak_is_growing_after_a_normal_end(self):
        self.run_job(LEAKY)
        report = self.report()
        site = self.assert_names_the_leak(report)
        self.assertTrue(report["complete"])
        self.assertEqual(site["confidence"], "high")
        self.assertEqual(report["clock"], "torch optimizer")
        held = {place(f) for s in report["sites"] if s["verdict"] == "held" for f in s["frames"]}
        self.assertTrue(any(p.startswith("adam") for p in held), held)  # optimizer state, born in the first step
        self.assertIn(LEAK, self.text())

    def test_the_state_at_the_end_shows_nothing_alive_because_the_framework_freed_it(self):
        self.run_job(LEAKY, "--steps", 60)
        site = [s for s in self.report("--at", "end")["sites"] if s["frames"] and place(s["frames"][0]) == LEAK]
        self.assertTrue(all(s["live_blocks"] == 0 for s in site), site)

    def test_a_healthy_script_flags_nothing(self):
        self.run_job(HEALTHY)
        report = self.report()
        self.assertEqual([s for s in report["sites"] if s["verdict"] in ("growing", "orphaned", "stuck", "late")], [])
        self.assertIn("no leak found", self.text())

    def wait_for_step(self, job, step):
        """Polls the live file; its destination is a link while the job runs."""
        for _ in range(600):
            self.assertIsNone(job.poll(), "the job ended before it was killed")
            trace = self.folder / "a.cuheap"
            if trace.exists() and self.report()["steps"]["count"] >= step:
                return
            time.sleep(0.1)
        self.fail("the job never came to the step")

    def python_of(self, job):
        children = pathlib.Path(f"/proc/{job.pid}/task/{job.pid}/children").read_text().split()
        self.assertEqual(len(children), 1)
        return int(children[0])

    def test_a_killed_job_gives_the_same_verdict_and_says_that_it_was_not_closed(self):
        job = self.start(LEAKY, "--steps", 100000, CUHEAP_SIM_MEMORY="200G")
        self.wait_for_step(job, 180)
        os.kill(self.python_of(job), signal.SIGKILL)
        job.communicate(timeout=60)
        self.assertEqual(job.returncode, 128 + signal.SIGKILL)
        self.assertFalse((self.folder / "a.cuheap").is_symlink(), "run brings the file home")
        self.assert_names_the_leak(self.report())
        self.assertFalse(self.report()["complete"])
        self.assertIn("did not close the file", self.text().splitlines()[0])

    def test_a_job_whose_watcher_was_killed_first_can_still_be_reported(self):
        job = self.start(LEAKY, "--steps", 100000, CUHEAP_SIM_MEMORY="200G")
        self.wait_for_step(job, 180)
        python = self.python_of(job)
        job.kill()
        job.wait(timeout=60)
        os.kill(python, signal.SIGKILL)
        while pathlib.Path(f"/proc/{python}").exists() and "Z" not in pathlib.Path(f"/proc/{python}/stat").read_text().split()[2]:
            time.sleep(0.05)
        self.assert_names_the_leak(self.report())
        self.assertIn("did not close the file", self.text().splitlines()[0])
        self.run_job("/bin/true", out="other.cuheap")  # the next run brings the files of dead processes home
        self.assertFalse((self.folder / "a.cuheap").is_symlink())
        self.assert_names_the_leak(self.report())
