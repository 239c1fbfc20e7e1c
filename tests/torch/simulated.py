"""What the tests of PyTorch on the simulated device share.

Each test file is one process: settings of the device and of the allocator are read once, so they come from the environment
that CMakeLists.txt gives the file.
"""

import unittest

import torch

DEVICE = "cuda"


def mapped_libraries():
    """Paths of the CUDA and NVIDIA libraries in this process."""
    with open("/proc/self/maps", encoding="utf-8") as maps:
        paths = {line.split()[-1] for line in maps if "/" in line}
    names = ("libcu", "libnv", "libnccl")
    return sorted(path for path in paths if path.rsplit("/", 1)[-1].startswith(names))


class SimulatedTest(unittest.TestCase):
    """After every test: nothing of NVIDIA's was loaded on top of the simulated device."""

    def tearDown(self):
        torch.cuda.synchronize()
        foreign = [path for path in mapped_libraries() if "/lib/sim/" not in path]
        self.assertEqual(foreign, [])

    def assert_round_trip(self, tensor, device=DEVICE):
        self.assertTrue(torch.equal(tensor.to(device).cpu(), tensor))


def used(device=0):
    """Bytes that the device says are used."""
    free, total = torch.cuda.mem_get_info(device)
    return total - free


def main():
    unittest.main(verbosity=2)
