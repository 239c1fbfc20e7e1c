"""What PyTorch's own allocator gives up before it says that memory is out (device of 4 GiB, of which 3.75 can be had)."""

import gc

import torch

from simulated import DEVICE, SimulatedTest, live_linear, main

MIB = 1 << 20
GIB = 1 << 30


def tensor(size):
    return torch.empty(size, dtype=torch.uint8, device=DEVICE)


class RetryTest(SimulatedTest):
    def setUp(self):
        gc.collect()
        torch.cuda.init()
        torch.cuda.empty_cache()
        self.assertEqual(live_linear(), (0, 0))
        self.counts_before = self.counts()

    @staticmethod
    def counts():
        stats = torch.cuda.memory_stats()
        return stats.get("num_alloc_retries", 0), stats.get("num_ooms", 0)

    def assert_counted(self, retries, failures):
        self.assertEqual(self.counts(), (self.counts_before[0] + retries, self.counts_before[1] + failures))

    def actions(self, work):
        """What the allocator did during the work, and the size of each action."""
        torch.cuda.memory._record_memory_history(context=None)
        try:
            work()
            traces = torch.cuda.memory._snapshot()["device_traces"][0]
        finally:
            torch.cuda.memory._record_memory_history(enabled=None)
        return [(entry["action"], entry["size"]) for entry in traces if entry["action"] != "snapshot"]

    def test_cached_segments_go_back_before_the_second_try(self):
        held = [tensor(GIB) for _ in range(3)]
        self.assertEqual(len(held), 3)
        del held
        kept = []
        done = self.actions(lambda: kept.append(tensor(2 * GIB)))
        self.assertEqual(done, [("segment_free", GIB)] * 3 + [("segment_alloc", 2 * GIB), ("alloc", 2 * GIB)])
        self.assert_counted(retries=1, failures=0)
        self.assertEqual(live_linear(), (1, 2 * GIB))

    def test_a_cached_block_that_fits_is_taken_and_nothing_goes_back(self):
        held = [tensor(GIB) for _ in range(3)]
        address = held[1].data_ptr()
        del held[1]
        kept = []
        done = self.actions(lambda: kept.append(tensor(GIB - 512)))
        self.assertEqual(done, [("alloc", GIB - 512)])
        self.assertEqual(kept[0].data_ptr(), address)
        self.assert_counted(retries=0, failures=0)
        self.assertEqual(live_linear(), (3, 3 * GIB))

    def test_a_segment_with_a_live_block_stays(self):
        whole = tensor(GIB)
        address = whole.data_ptr()
        others = [tensor(GIB), tensor(GIB)]
        del whole
        pin = tensor(16 * MIB)
        self.assertEqual(pin.data_ptr(), address)
        others.clear()
        large = tensor(2 * GIB)
        self.assert_counted(retries=1, failures=0)
        self.assertEqual(live_linear(), (2, 3 * GIB))
        with self.assertRaises(torch.OutOfMemoryError):
            tensor(GIB)
        self.assert_counted(retries=2, failures=1)
        self.assertEqual(torch.cuda.memory_stats()["inactive_split_bytes.all.current"], GIB - 16 * MIB)
        self.assertEqual(large.numel(), 2 * GIB)

    def test_what_other_streams_have_cached_goes_back_too(self):
        side = torch.cuda.Stream()
        with torch.cuda.stream(side):
            tensor(3 * GIB)
        self.assertEqual(live_linear(), (1, 3 * GIB))
        block = tensor(2 * GIB)
        self.assert_counted(retries=1, failures=0)
        self.assertEqual([segment["stream"] for segment in torch.cuda.memory_snapshot()], [0])
        self.assertEqual(live_linear(), (1, block.numel()))

    def test_a_request_that_fails_has_emptied_the_cache(self):
        tensor(GIB)
        with self.assertRaises(torch.OutOfMemoryError):
            tensor(5 * GIB)
        self.assert_counted(retries=1, failures=1)
        self.assertEqual(torch.cuda.memory_reserved(), 0)
        self.assertEqual(live_linear(), (0, 0))

    def test_the_limit_of_the_process_makes_it_give_up_its_cache_as_well(self):
        torch.cuda.set_per_process_memory_fraction(0.5)
        self.addCleanup(torch.cuda.set_per_process_memory_fraction, 1.0)
        tensor(GIB)
        block = tensor(GIB + GIB // 2)
        self.assert_counted(retries=1, failures=0)
        self.assertEqual(live_linear(), (1, block.numel()))


main()
