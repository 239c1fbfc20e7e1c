"""`cuda_program_test.py PROGRAM`: scale.cu, built by nvcc against the shared runtime, on the simulated device.

What it prints is compared with what a device that computes nothing must give, and what it did with the device's log.
"""

import collections
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

PROGRAM = sys.argv.pop(1)
ELEMENTS = 1 << 20
CALL = re.compile(r"\d+ \d+ (\w+)\((.*)\) = (\d+)")
NUMBER = re.compile(r"0x[0-9a-f]+|\b\d+")


class CudaProgramTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        log, cls.guard = pathlib.Path(folder.name, "log"), pathlib.Path(folder.name, "foreign")
        environment = dict(os.environ, CUHEAP_SIM_LOG=str(log), CUHEAP_SIM_GUARD=str(cls.guard))
        cls.job = subprocess.run([PROGRAM], env=environment, capture_output=True, text=True, timeout=300)
        cls.calls = collections.defaultdict(list)  # name -> arguments and code of each call
        for name, arguments, code in CALL.findall(log.read_text()):
            cls.calls[name].append(([int(number, 0) for number in NUMBER.findall(arguments)], int(code)))

    def succeeded(self, name):
        return [arguments for arguments, code in self.calls[name] if code == 0]

    def test_the_program_ends_well_on_the_simulated_libraries_alone(self):
        self.assertEqual((self.job.returncode, self.job.stderr), (0, ""))
        self.assertFalse(self.guard.exists() and self.guard.read_text())

    def test_copies_are_real_and_kernels_change_nothing(self):
        self.assertEqual(self.job.stdout.splitlines(),
                         ["factors: 2 3 5 7", "launches before: 0", f"sum of floats: {ELEMENTS}",
                          f"sum of doubles: {ELEMENTS}", "resident: yes", "too large: cudaErrorInvalidConfiguration"])

    def test_each_kernel_is_launched_on_both_streams(self):
        launches = self.succeeded("cuLaunchKernel")
        shapes = {tuple(launch[1:8]) for launch in launches}
        self.assertEqual(shapes, {(ELEMENTS // 2 // 256, 1, 1, 256, 1, 1, 0)})
        pairs = {(launch[0], launch[8]) for launch in launches}
        self.assertEqual((len(launches), len(pairs)), (4, 4))
        self.assertEqual((len({kernel for kernel, _ in pairs}), len({stream for _, stream in pairs})), (2, 2))

    def test_a_launch_that_is_too_large_reaches_the_device_and_is_refused(self):
        refused = [arguments[4:7] for arguments, code in self.calls["cuLaunchKernel"] if code != 0]
        self.assertEqual(refused, [[2048, 1, 1]])

    def test_the_code_is_loaded_once_and_memory_is_given_back(self):
        self.assertEqual(len(self.succeeded("cuLibraryLoadData")), 1)
        self.assertEqual([arguments[1] for arguments in self.succeeded("cuMemAlloc_v2")], [4 * ELEMENTS, 8 * ELEMENTS])
        self.assertEqual(len(self.succeeded("cuMemFree_v2")), 2)


unittest.main(verbosity=2)
