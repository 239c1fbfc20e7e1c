"""How PyTorch's own allocator cuts segments into blocks, and that the device's list agrees."""

import gc

import torch

from simulated import DEVICE, SimulatedTest, live_linear, main, used

KIB = 1 << 10
MIB = 1 << 20


def tensor(size):
    return torch.empty(size, dtype=torch.uint8, device=DEVICE)


def placed(data):
    """The segment and the block of a tensor."""
    for segment in torch.cuda.memory_snapshot():
        for block in segment["blocks"]:
            if block["address"] == data.data_ptr():
                return segment, block
    raise LookupError(hex(data.data_ptr()))


def stat(name):
    return torch.cuda.memory_stats()[name + ".current"]


class SegmentTest(SimulatedTest):
    def setUp(self):
        gc.collect()
        torch.cuda.init()
        torch.cuda.empty_cache()
        self.assertEqual(live_linear(), (0, 0))

    def set_option(self, option):
        torch._C._accelerator_setAllocatorSettings(option)

    def test_blocks_are_multiples_of_512_bytes(self):
        for request, size in [(1, 512), (511, 512), (512, 512), (513, 1024), (MIB - 1, MIB), (3 * MIB + 1, 3 * MIB + 512)]:
            data = tensor(request)
            _, block = placed(data)
            self.assertEqual((block["size"], block["requested_size"]), (size, request))

    def test_segments_have_three_kinds_of_size(self):
        cases = [(1, "small", 2), (MIB, "small", 2), (MIB + 1, "large", 20), (10 * MIB - 512, "large", 20),
                 (10 * MIB, "large", 10), (10 * MIB + 1, "large", 12), (38 * MIB, "large", 38), (8519680, "large", 20)]
        for request, kind, mebibytes in cases:
            data = tensor(request)
            segment, _ = placed(data)
            self.assertEqual((segment["segment_type"], segment["total_size"]), (kind, mebibytes * MIB), request)
            self.assertEqual(live_linear(), (1, mebibytes * MIB))
            del data
            torch.cuda.empty_cache()

    def test_growing_requests_strand_each_others_segments(self):
        reserved = []
        for i in range(1, 11):
            tensor(4_000_000 * i)
            reserved.append(torch.cuda.memory_reserved() // MIB)
        self.assertEqual(reserved, [20, 20, 20, 20, 20, 44, 72, 104, 140, 180])
        self.assertEqual(live_linear(), (6, 180 * MIB))

    def test_small_and_large_blocks_lie_in_pools_of_their_own(self):
        held = [tensor(size) for size in (100, MIB, MIB + 512, 5 * MIB)]
        self.assertEqual((stat("segment.small_pool"), stat("segment.large_pool")), (1, 1))
        self.assertEqual((stat("reserved_bytes.small_pool"), stat("reserved_bytes.large_pool")), (2 * MIB, 20 * MIB))
        self.assertEqual((stat("allocation.small_pool"), stat("allocation.large_pool")), (2, 2))
        self.assertEqual(stat("allocated_bytes.small_pool"), MIB + 512)
        self.assertEqual(stat("allocated_bytes.large_pool"), 6 * MIB + 512)
        self.assertEqual(stat("requested_bytes.all"), sum(data.numel() for data in held))
        self.assertEqual(live_linear(), (2, 22 * MIB))

    def test_a_small_segment_is_cut_down_to_its_last_512_bytes(self):
        held = [tensor(512) for _ in range(2 * MIB // 512)]
        self.assertEqual(live_linear(), (1, 2 * MIB))
        self.assertEqual(len({data.data_ptr() for data in held}), 4096)
        held.append(tensor(1))
        self.assertEqual(live_linear(), (2, 4 * MIB))

    def test_a_large_rest_of_at_most_one_mebibyte_stays_with_its_block(self):
        first = tensor(9 * MIB)
        whole = tensor(10 * MIB)
        self.assertEqual(placed(whole)[1]["size"], 11 * MIB)
        del whole
        cut = tensor(10 * MIB - 512)
        self.assertEqual(placed(cut)[1]["size"], 10 * MIB - 512)
        self.assertEqual(cut.data_ptr(), first.data_ptr() + 9 * MIB)
        self.assertEqual(stat("inactive_split_bytes.all"), MIB + 512)
        self.assertEqual(live_linear(), (1, 20 * MIB))

    def test_freed_neighbours_become_one_block(self):
        first, second, third = (tensor(6 * MIB) for _ in range(3))
        address = first.data_ptr()
        self.assertEqual([second.data_ptr() - address, third.data_ptr() - address], [6 * MIB, 12 * MIB])
        del second, first
        both = tensor(12 * MIB)
        self.assertEqual(both.data_ptr(), address)
        self.assertEqual(stat("inactive_split_bytes.all"), 2 * MIB)
        self.assertEqual(live_linear(), (1, 20 * MIB))

    def test_the_smallest_free_block_that_fits_is_taken(self):
        held = {size: tensor(size * MIB) for size in (30, 22, 40)}
        addresses = {size: data.data_ptr() for size, data in held.items()}
        held.clear()
        self.assertEqual(tensor(21 * MIB).data_ptr(), addresses[22])
        self.assertEqual(tensor(30 * MIB).data_ptr(), addresses[30])
        self.assertEqual(live_linear(), (3, 92 * MIB))

    def test_requests_round_up_to_steps_between_powers_of_two_when_asked(self):
        self.addCleanup(self.set_option, "roundup_power2_divisions:1")
        for divisions, request, size in [(4, 84 * MIB, 96 * MIB), (8, 84 * MIB, 88 * MIB), (2, 400 * MIB, 512 * MIB),
                                         (4, 600, 1024), (4, 5 * KIB, 5 * KIB), (4, 5 * KIB + 1, 6 * KIB)]:
            self.set_option(f"roundup_power2_divisions:{divisions}")
            data = tensor(request)
            self.assertEqual(placed(data)[1]["size"], size, request)

    def test_every_stream_has_segments_of_its_own(self):
        before = used()
        sides = [torch.cuda.Stream() for _ in range(2)]
        held = [tensor(100), tensor(2 * MIB)]
        for side in sides:
            with torch.cuda.stream(side):
                held += [tensor(100), tensor(2 * MIB)]
        streams = sorted((segment["stream"], segment["segment_type"]) for segment in torch.cuda.memory_snapshot())
        handles = sorted([0, *(side.cuda_stream for side in sides)])
        self.assertEqual(streams, [(handle, kind) for handle in handles for kind in ("large", "small")])
        self.assertEqual(used() - before, 3 * 22 * MIB)
        held.clear()
        torch.cuda.empty_cache()
        self.assertEqual(used(), before)


main()
