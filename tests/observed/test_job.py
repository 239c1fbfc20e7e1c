"""The job does not notice: status, signals, output, torch's own profiler; processes without CUDA leave nothing."""
import signal
import subprocess
import sys

from harness import BUILD, Job, environment

PYTHON = sys.executable


class TheJob(Job):
    def script(self, text):
        path = self.folder / "script.py"
        path.write_text(text)
        return path

    def test_status_and_signals_are_passed_through(self):
        self.run_job("/bin/sh", "-c", "exit 7", status=7)
        self.run_job("/bin/sh", "-c", "kill -TERM $$", status=128 + signal.SIGTERM)
        self.run_job("/no/such/program", status=127)
        not_a_program = self.folder / "text"
        not_a_program.write_text("no program\n")
        self.run_job(not_a_program, status=126)

    def test_a_process_without_cuda_leaves_no_file_and_no_word(self):
        output, _ = self.run_job("/bin/sh", "-c", "echo one | cat; python3 -c 'print(2)'")
        self.assertEqual(output, "one\n2\n")
        self.assertEqual(list(self.folder.glob("*.cuheap*")), [])

    def test_an_existing_target_is_refused_and_kept(self):
        (self.folder / "a.cuheap").write_text("mine")
        self.run_job("/bin/true", status=2)
        self.assertEqual((self.folder / "a.cuheap").read_text(), "mine")
        self.run_job("/bin/true", flags=["-f"])

    def test_every_process_of_the_job_has_a_file_of_its_own(self):
        child = "import torch; x = torch.ones(1 << 20, device='cuda'); import os; os._exit(0)"
        self.run_job(self.script("import subprocess, sys, torch\n"
                                 "x = torch.ones(1 << 20, device='cuda')\n"
                                 f"for _ in range(2): subprocess.run([sys.executable, '-c', {child!r}], check=True)\n"))
        files = sorted(self.folder.glob("*.cuheap"))
        self.assertEqual(len(files), 3, files)
        self.assertFalse(any(file.is_symlink() for file in files))

    def test_forked_workers_do_not_touch_the_file_of_their_parent(self):
        self.run_job(self.script("import os, torch\n"
                                 "x = torch.ones(1 << 20, device='cuda')\n"
                                 "children = [os.fork() for _ in range(1)]\n"
                                 "if children[0] == 0: os._exit(0)\n"
                                 "os.waitpid(children[0], 0)\n"
                                 "y = torch.ones(1 << 20, device='cuda')\n"))
        self.assertEqual(len(list(self.folder.glob("*.cuheap"))), 1)
        self.assertTrue(self.report()["complete"])

    def test_torchs_profiler_keeps_its_memory_events(self):
        script = self.script("import torch\n"
                             "from torch.profiler import profile, ProfilerActivity\n"
                             "torch.ones(1, device='cuda')\n"
                             "with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as p:\n"
                             "    x = [torch.empty(1 << 20, device='cuda') for _ in range(7)]\n"
                             "    del x\n"
                             "events = [e for e in p.profiler.kineto_results.events() if e.name() == '[memory]']\n"
                             "print(sum(1 for e in events if str(e.device_type()).endswith('CUDA')))\n")
        watched, _ = self.run_job(script)
        alone = subprocess.run([PYTHON, script], env=environment(), capture_output=True, text=True, check=True).stdout
        self.assertEqual(watched, alone)
        self.assertEqual(int(watched), 14)

    def test_out_of_memory_is_kept_as_an_instant_and_the_error_is_torchs_own(self):
        output, _ = self.run_job(self.script(
            "import torch\n"
            "kept = []\n"
            "try:\n"
            "    while True: kept.append(torch.empty(256 << 20, dtype=torch.uint8, device='cuda'))\n"
            "except torch.OutOfMemoryError as error: print(type(error).__name__, len(kept))\n"
            "kept.clear()\n"), CUHEAP_SIM_MEMORY="4G")
        name, blocks = output.split()
        self.assertEqual(name, "OutOfMemoryError")
        report = self.report("--at", "oom")
        self.assertEqual(report["instant"]["kind"], "oom")
        self.assertEqual(report["devices"][0]["live"], int(blocks) * (256 << 20))
        self.assertIn("script.py:4", self.text("--at", "oom"))

    def test_blocks_of_the_async_backend_are_seen_with_their_pool(self):
        self.run_job(self.script("import os, torch\n"
                                 "x = [torch.empty(10 << 20, dtype=torch.uint8, device='cuda') for _ in range(5)]\n"
                                 "torch.cuda.synchronize()\n"
                                 "os._exit(0)\n"), PYTORCH_ALLOC_CONF="backend:cudaMallocAsync")
        report = self.report("--at", "end")
        sites = [s for s in report["sites"] if s["heap"] == "async"]
        self.assertEqual(sum(s["live_bytes"] for s in sites), 50 << 20)

    def test_tensors_are_driver_blocks_when_caching_is_off(self):
        self.run_job(self.script("import os, torch\n"
                                 "x = [torch.empty(10 << 20, dtype=torch.uint8, device='cuda') for _ in range(5)]\n"
                                 "os._exit(0)\n"), PYTORCH_NO_CUDA_MEMORY_CACHING="1")
        report = self.report("--at", "end")
        sites = [s for s in report["sites"] if s["heap"] == "driver"]
        self.assertEqual(sum(s["live_bytes"] for s in sites), 50 << 20)
        self.assertIn("script.py:2", self.text("--at", "end"))

    def test_the_preload_needs_libc_only(self):
        library = BUILD / "lib/libcuheap_preload.so"
        dynamic = subprocess.run(["readelf", "-d", library], capture_output=True, text=True, check=True).stdout
        needed = {line.split("[")[1].rstrip("]") for line in dynamic.splitlines() if "(NEEDED)" in line}
        self.assertLessEqual(needed, {"libc.so.6", "libdl.so.2", "libpthread.so.0", "ld-linux-x86-64.so.2"})
