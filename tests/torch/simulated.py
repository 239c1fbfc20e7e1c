"""What the tests of PyTorch on the simulated device share.

Each test file is one process: settings of the device and of the allocator are read once, so they come from the environment
that CMakeLists.txt gives the file.
"""

import atexit
import ctypes
import time
import unittest

import torch

DEVICE = "cuda"

# PyTorch's autograd threads take Python's lock once more after a backward pass, to drop its graph. Python before 3.12 aborts
# the process when they come for it after the end.
atexit.register(time.sleep, 0.2)


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


class Kind:
    """Kinds of memory of the simulated device, as sim_api.h numbers them."""

    CONTEXT, LINEAR, VMM, POOL, STATIC, GRAPH = range(6)


def ask_device(question, *arguments):
    """The answer of a function of sim_api.h, by its name without cuheap_sim_."""
    function = getattr(ctypes.CDLL("libcuheap_sim.so"), "cuheap_sim_" + question)
    function.restype = ctypes.c_uint64
    return function(*arguments)


def live_linear(device=0):
    """Blocks and bytes of cudaMalloc that the device has on its list for this process."""
    return tuple(ask_device(question, device, Kind.LINEAR) for question in ("live_blocks", "live_bytes"))


def main():
    unittest.main(verbosity=2)
