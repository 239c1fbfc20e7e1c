"""`torchrun` with two ranks of gloo, each on a device of its own, in one machine."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

from simulated import Kind

HERE = pathlib.Path(__file__).resolve().parent
# A process without PyTorch that asks the machine who still holds memory.
LOOK = """
import ctypes
ctypes.CDLL("libcuda.so.1").cuInit(0)
others = ctypes.CDLL("libcuheap_sim.so").cuheap_sim_other_processes
others.restype = ctypes.c_uint64
print(others(0), others(1))
"""


class TorchrunTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        cls.guard = cls.folder / "foreign"
        cls.environment = dict(os.environ, CUHEAP_SIM_SHARED=str(cls.folder / "gpu"), CUHEAP_SIM_GUARD=str(cls.guard),
                               GLOO_SOCKET_IFNAME="lo")
        cls.job = subprocess.run(
            [sys.executable, "-m", "torch.distributed.run", "--standalone", "--local-addr", "127.0.0.1",
             "--nproc-per-node", "2", str(HERE / "data_parallel.py"), str(cls.folder)],
            env=cls.environment, capture_output=True, text=True, timeout=300)
        print(cls.job.stdout, cls.job.stderr, file=sys.stderr)
        cls.ranks = [json.loads(path.read_text()) for path in sorted(cls.folder.glob("rank*.json"))]

    def setUp(self):
        self.assertEqual(self.job.returncode, 0)
        self.assertEqual([(rank["rank"], rank["world"]) for rank in self.ranks], [(0, 2), (1, 2)])

    def test_wrapping_a_model_makes_its_parameters_equal(self):
        first, second = self.ranks
        self.assertNotEqual(first["made"], second["made"])
        self.assertEqual(first["wrapped"], second["wrapped"])

    def test_a_broadcast_brings_the_parameters_of_the_first_rank(self):
        self.assertEqual([rank["shared"] for rank in self.ranks], [self.ranks[0]["made"]] * 2)

    def test_training_moves_both_to_the_same_parameters(self):
        first, second = self.ranks
        self.assertEqual(first["trained"], second["trained"])
        self.assertNotEqual(first["trained"], first["shared"])

    def test_a_sum_of_device_tensors_is_on_every_device(self):
        self.assertEqual([rank["total"] for rank in self.ranks], [[3.0], [3.0]])

    def test_the_memory_of_a_rank_is_on_its_own_device(self):
        for rank, seen in enumerate(self.ranks):
            other = 1 - rank
            self.assertEqual(set(seen["devices"]), {f"cuda:{rank}"})
            own = seen["held"]["own"]
            # Threads of PyTorch's that only restore their current device make a context there.
            self.assertEqual([kind for kind, size in own[other].items() if size > 0 and kind != str(Kind.CONTEXT)], [])
            self.assertEqual(own[rank][str(Kind.LINEAR)], seen["reserved"][rank])
            self.assertGreater(seen["reserved"][rank], 0)
            self.assertEqual(seen["reserved"][other], 0)

    def test_each_rank_sees_what_the_other_holds(self):
        for rank, seen in enumerate(self.ranks):
            theirs = self.ranks[1 - rank]["held"]["own"]
            self.assertEqual(seen["held"]["others"], [sum(kinds.values()) for kinds in theirs])

    def test_the_machine_is_empty_afterwards_and_was_never_mixed_with_a_real_one(self):
        left = subprocess.run([sys.executable, "-c", LOOK], env=self.environment, capture_output=True, text=True, check=True)
        self.assertEqual(left.stdout.split(), ["0", "0"])
        self.assertFalse(self.guard.exists() and self.guard.read_text())


unittest.main(verbosity=2)
