"""Expandable segments: virtual memory management through driver functions taken by name (device of 4 GiB)."""

import gc

import torch
from torch import nn

from simulated import DEVICE, SimulatedTest, main, used

MIB = 1 << 20


class ExpandableTest(SimulatedTest):
    def setUp(self):
        gc.collect()
        torch.zeros(1, device=DEVICE)
        torch.cuda.empty_cache()
        self.before = used()

    def test_blocks_lie_in_one_growing_segment(self):
        blocks = [torch.empty(30 * MIB, dtype=torch.uint8, device=DEVICE) for _ in range(10)]
        large = [segment for segment in torch.cuda.memory_snapshot() if segment["segment_type"] == "large"]
        self.assertEqual([segment["is_expandable"] for segment in large], [True])
        self.assertEqual(used() - self.before, 300 * MIB)
        self.assertEqual(len(blocks), 10)

    def test_emptying_the_cache_unmaps(self):
        block = torch.empty(300 * MIB, dtype=torch.uint8, device=DEVICE)
        self.assertEqual(block.numel(), 300 * MIB)
        del block
        torch.cuda.empty_cache()
        self.assertEqual(used(), self.before)

    def test_mapped_memory_keeps_values_and_reaches_the_other_device(self):
        host = torch.arange(1 << 16)
        data = host.to(DEVICE)
        self.assertTrue(torch.equal(data.cpu(), host))
        self.assertTrue(torch.equal(data.to("cuda:1").cpu(), host))

    def test_training(self):
        model = nn.Linear(256, 256).to(DEVICE)
        optimizer = torch.optim.Adam(model.parameters())
        for _ in range(3):
            optimizer.zero_grad()
            model(torch.randn(4, 256, device=DEVICE)).sum().backward()
            optimizer.step()
        self.assertEqual(model.weight.grad.shape, (256, 256))

    def test_a_full_device_raises_out_of_memory_and_recovers(self):
        held = []
        with self.assertRaises(torch.OutOfMemoryError):
            while True:
                held.append(torch.empty(512 * MIB, dtype=torch.uint8, device=DEVICE))
        self.assertEqual(len(held), 7)
        held.clear()
        torch.cuda.empty_cache()
        self.assertEqual(used(), self.before)
        self.assert_round_trip(torch.arange(1000.0))


main()
