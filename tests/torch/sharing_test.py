"""Two processes on one device of 4 GiB."""

import os
import subprocess
import sys
import tempfile

import torch

from simulated import DEVICE, SimulatedTest, main

CHILD = """
import sys, torch
held = []
try:
    for _ in range(int(sys.argv[1])):
        held.append(torch.empty(1 << 30, dtype=torch.uint8, device="cuda"))
except torch.OutOfMemoryError as error:
    print(len(held), "oom", "Process" in str(error), flush=True)
else:
    print(len(held), "held", flush=True)
sys.stdin.read()
"""


class SharingTest(SimulatedTest):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.environment = dict(os.environ, CUHEAP_SIM_SHARED=os.path.join(self.folder.name, "gpu"))
        self.children = []

    def tearDown(self):
        for child in self.children:
            child.kill()
            child.communicate()
        self.folder.cleanup()
        super().tearDown()

    def start(self, gibibytes):
        child = subprocess.Popen([sys.executable, "-c", CHILD, str(gibibytes)], env=self.environment, text=True,
                                 stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.children.append(child)
        return child, child.stdout.readline().split()

    def test_what_one_process_holds_the_other_cannot_have(self):
        self.assertEqual(self.start(2)[1], ["2", "held"])
        self.assertEqual(self.start(2)[1][:2], ["1", "oom"])

    def test_memory_of_a_killed_process_comes_back(self):
        first, answer = self.start(3)
        self.assertEqual(answer, ["3", "held"])
        self.assertEqual(self.start(1)[1][:2], ["0", "oom"])
        first.kill()
        first.wait()
        self.assertEqual(self.start(3)[1], ["3", "held"])

    def test_the_error_names_the_other_process(self):
        self.start(3)
        self.assertEqual(self.start(1)[1], ["0", "oom", "True"])

    def test_a_process_alone_has_the_whole_device(self):
        self.assertEqual(torch.empty(3 << 30, dtype=torch.uint8, device=DEVICE).numel(), 3 << 30)


main()
