"""Expandable segments: virtual memory management through driver functions taken by name (device of 4 GiB)."""

import gc

import torch
from torch import nn

from simulated import DEVICE, Kind, SimulatedTest, ask_device, main, used

MIB = 1 << 20
GIB = 1 << 30


def tensor(size):
    return torch.empty(size, dtype=torch.uint8, device=DEVICE)


def mapped():
    """Bytes of physical memory behind expandable segments."""
    return ask_device("used", 0, Kind.VMM)


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

    def test_small_and_large_segments_grow_by_two_and_twenty_mebibytes(self):
        small = [tensor(MIB), tensor(MIB)]
        self.assertEqual(mapped(), 2 * MIB)
        small.append(tensor(1))
        self.assertEqual(mapped(), 4 * MIB)
        large = [tensor(18 * MIB)]
        self.assertEqual(mapped(), 24 * MIB)
        large.append(tensor(3 * MIB))
        self.assertEqual(mapped(), 44 * MIB)
        self.assertEqual(large[1].data_ptr(), large[0].data_ptr() + 18 * MIB)
        self.assertEqual(sorted((segment["segment_type"], segment["total_size"]) for segment in torch.cuda.memory_snapshot()),
                         [("large", 40 * MIB), ("small", 4 * MIB)])
        self.assertEqual(ask_device("live_blocks", 0, Kind.LINEAR), 0)

    def test_a_block_may_span_what_was_mapped_piece_by_piece(self):
        pieces = [tensor(30 * MIB) for _ in range(3)]
        addresses = [piece.data_ptr() for piece in pieces]
        self.assertEqual(addresses, [addresses[0] + i * 30 * MIB for i in range(3)])
        grown = mapped()
        pieces.clear()
        self.assertEqual(tensor(85 * MIB).data_ptr(), addresses[0])
        self.assertEqual(mapped(), grown)

    def test_every_stream_has_a_segment_of_its_own(self):
        side = torch.cuda.Stream()
        held = [tensor(30 * MIB)]
        with torch.cuda.stream(side):
            held.append(tensor(30 * MIB))
        held.append(tensor(30 * MIB))
        self.assertEqual(sorted((segment["stream"], segment["allocated_size"]) for segment in torch.cuda.memory_snapshot()),
                         [(0, 60 * MIB), (side.cuda_stream, 30 * MIB)])

    def test_a_hole_is_unmapped_when_the_device_is_full(self):
        first, hole, last = (tensor(GIB) for _ in range(3))
        retries = torch.cuda.memory_stats()["num_alloc_retries"]
        last_address = last.data_ptr()
        del hole
        large = tensor(GIB + GIB // 2)
        self.assertEqual(torch.cuda.memory_stats()["num_alloc_retries"], retries + 1)
        self.assertEqual(large.data_ptr(), last_address + GIB)
        # Whole pieces of 20 MiB: all that reach below the end of the large block, without those inside the hole.
        self.assertEqual(mapped(), (4620 - 1000) * MIB)
        self.assertEqual((first.numel(), last.numel()), (GIB, GIB))

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
