"""The backend cudaMallocAsync: stream-ordered memory of the driver's pools (device of 4 GiB)."""

import torch
from torch import nn

from simulated import DEVICE, SimulatedTest, main

GIB = 1 << 30


class AsyncTest(SimulatedTest):
    def test_the_backend_is_in_use(self):
        self.assertEqual(torch.cuda.get_allocator_backend(), "cudaMallocAsync")

    def test_training_and_statistics(self):
        model = nn.Linear(256, 256).to(DEVICE)
        optimizer = torch.optim.Adam(model.parameters())
        for _ in range(3):
            optimizer.zero_grad()
            model(torch.randn(4, 256, device=DEVICE)).sum().backward()
            optimizer.step()
        self.assertGreaterEqual(torch.cuda.memory_allocated(), 4 * 256 * 256 * 4)
        self.assertGreaterEqual(torch.cuda.memory_reserved(), torch.cuda.memory_allocated())

    def test_values_survive(self):
        self.assert_round_trip(torch.arange(10000.0))

    def test_freed_memory_is_reused(self):
        first = torch.empty(3 * GIB, dtype=torch.uint8, device=DEVICE)
        del first
        self.assertEqual(torch.empty(3 * GIB, dtype=torch.uint8, device=DEVICE).numel(), 3 * GIB)

    def test_a_request_beyond_the_device_raises_out_of_memory(self):
        with self.assertRaises(torch.OutOfMemoryError):
            torch.empty(100 * GIB, dtype=torch.uint8, device=DEVICE)
        self.assert_round_trip(torch.arange(10.0))

    def test_a_side_stream_may_use_and_free(self):
        side = torch.cuda.Stream()
        data = torch.empty(1 << 20, device=DEVICE)
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            data.record_stream(side)
            self.assertEqual((data + 1).shape, data.shape)
        del data
        side.synchronize()


main()
