"""Zeroed tensors that fill a large device cost the host next to nothing, whoever gives PyTorch its memory."""

import os

import torch

from simulated import DEVICE, SimulatedTest, main, used

GIB = 1 << 30


def resident():
    """Bytes of this process that are in the host's memory."""
    with open("/proc/self/statm", encoding="utf-8") as statm:
        return int(statm.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


class ZerosTest(SimulatedTest):
    def check(self, count, size):
        torch.zeros(1, device=DEVICE)
        before = resident()
        held = [torch.zeros(size, dtype=torch.uint8, device=DEVICE) for _ in range(count)]
        torch.cuda.synchronize()
        self.assertGreaterEqual(used(), 80 * GIB)
        self.assertLess(resident() - before, GIB)
        self.assertEqual(int(held[-1][-1]), 0)
        held.clear()
        torch.cuda.empty_cache()

    def test_eighty_tensors_of_a_gibibyte(self):
        self.check(80, GIB)

    def test_two_tensors_of_forty(self):
        self.check(2, 40 * GIB)


main()
