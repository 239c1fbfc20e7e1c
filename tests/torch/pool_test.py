"""MemPool on an allocator of the program's own (counting_allocator.cc)."""

import ctypes
import gc
import os

import torch
from torch import nn

from simulated import DEVICE, SimulatedTest, main

PATH = os.environ["CUHEAP_COUNTING_ALLOCATOR"]


class PoolTest(SimulatedTest):
    def setUp(self):
        self.library = ctypes.CDLL(PATH)
        self.allocator = torch.cuda.memory.CUDAPluggableAllocator(PATH, "counting_allocate", "counting_free")

    def counts(self):
        return self.library.counting_allocations(), self.library.counting_frees()

    def test_memory_of_the_pool_comes_from_the_allocator_and_goes_back(self):
        allocations, frees = self.counts()
        outside = torch.empty(1 << 20, device=DEVICE)
        self.assertEqual(self.counts(), (allocations, frees))
        pool = torch.cuda.MemPool(self.allocator.allocator())
        with torch.cuda.use_mem_pool(pool):
            inside = torch.empty(1 << 20, device=DEVICE)
            model = nn.Linear(512, 512).to(DEVICE)
        made = self.counts()[0] - allocations
        self.assertGreaterEqual(made, 2)
        self.assertEqual(len(pool.snapshot()), made)
        after = torch.empty(1 << 20, device=DEVICE)
        self.assertEqual(self.counts()[0] - allocations, made)
        del inside, model, pool
        gc.collect()
        torch.cuda.empty_cache()
        self.assertEqual(self.counts()[1] - frees, made)
        self.assertEqual(outside.numel() + after.numel(), 2 << 20)

    def test_training_inside_a_pool(self):
        pool = torch.cuda.MemPool(self.allocator.allocator())
        with torch.cuda.use_mem_pool(pool):
            model = nn.Linear(512, 512).to(DEVICE)
            model(torch.randn(4, 512, device=DEVICE)).sum().backward()
        self.assertEqual(model.weight.grad.shape, (512, 512))
        self.assertTrue(all(segment["segment_pool_id"] == pool.id for segment in pool.snapshot()))
        self.assert_round_trip(torch.arange(1000.0))


main()
