"""PyTorch's own allocator at the edge of a small device (4 GiB)."""

import gc

import torch

from simulated import DEVICE, SimulatedTest, main, used

MIB = 1 << 20
GIB = 1 << 30


def fill(size):
    """Tensors of `size` bytes until the device is full, and the error that ended it."""
    held = []
    while True:
        try:
            held.append(torch.empty(size, dtype=torch.uint8, device=DEVICE))
        except torch.OutOfMemoryError as error:
            return held, error


class MemoryTest(SimulatedTest):
    def setUp(self):
        gc.collect()
        torch.cuda.empty_cache()

    def test_a_full_device_raises_out_of_memory(self):
        failures = torch.cuda.memory_stats().get("num_ooms", 0)
        held, error = fill(512 * MIB)
        self.assertEqual(len(held), 7)  # the context takes part of the eighth
        self.assertIn("CUDA out of memory. Tried to allocate 512.00 MiB", str(error))
        self.assertIn("total capacity of 4.00 GiB", str(error))
        self.assertEqual(torch.cuda.memory_stats()["num_ooms"], failures + 1)

    def test_after_out_of_memory_smaller_work_goes_on(self):
        held, _ = fill(512 * MIB)
        held.clear()
        retries = torch.cuda.memory_stats()["num_alloc_retries"]
        self.assertEqual(torch.empty(GIB, dtype=torch.uint8, device=DEVICE).numel(), GIB)
        self.assertEqual(torch.cuda.memory_stats()["num_alloc_retries"], retries + 1)
        self.assert_round_trip(torch.arange(1000.0))

    def test_emptying_the_cache_gives_all_of_it_back(self):
        before = used()
        block = torch.empty(64 * MIB, dtype=torch.uint8, device=DEVICE)
        self.assertEqual(used() - before, 64 * MIB)
        del block
        self.assertEqual(used() - before, 64 * MIB)
        torch.cuda.empty_cache()
        self.assertEqual(used(), before)

    def test_segments_tile_and_agree_with_the_device(self):
        torch.cuda.init()
        torch.zeros(1, device=DEVICE)
        base = used() - torch.cuda.memory_reserved()
        blocks = [torch.empty(size * MIB, dtype=torch.uint8, device=DEVICE) for size in (1, 5, 30)]
        self.assertEqual(used() - torch.cuda.memory_reserved(), base)
        for segment in torch.cuda.memory_snapshot():
            self.assertEqual(sum(block["size"] for block in segment["blocks"]), segment["total_size"])
        self.assertEqual(len(blocks), 3)

    def test_a_fraction_limits_the_process(self):
        torch.cuda.set_per_process_memory_fraction(0.25)
        try:
            with self.assertRaises(torch.OutOfMemoryError):
                torch.empty(2 * GIB, dtype=torch.uint8, device=DEVICE)
        finally:
            torch.cuda.set_per_process_memory_fraction(1.0)

    def test_a_request_beyond_the_device_fails_at_once(self):
        with self.assertRaises(torch.OutOfMemoryError):
            torch.empty(100 * GIB, dtype=torch.uint8, device=DEVICE)

    def test_history_records_what_happened(self):
        torch.cuda.memory._record_memory_history()
        block = torch.empty(MIB, device=DEVICE)
        del block
        snapshot = torch.cuda.memory._snapshot()
        torch.cuda.memory._record_memory_history(enabled=None)
        actions = [entry["action"] for entry in snapshot["device_traces"][0]]
        self.assertEqual([action for action in actions if action in ("alloc", "free_completed")][-2:],
                         ["alloc", "free_completed"])


main()
