"""Side streams and memory used on them."""

import torch

from simulated import DEVICE, SimulatedTest, main


class StreamTest(SimulatedTest):
    def test_work_on_a_side_stream_is_joined(self):
        side = torch.cuda.Stream()
        data = torch.arange(1024.0).pin_memory()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            copy = data.to(DEVICE, non_blocking=True)
            done = side.record_event()
        torch.cuda.current_stream().wait_event(done)
        self.assertTrue(torch.equal(copy.cpu(), data))
        done.synchronize()
        self.assertTrue(done.query())
        self.assertTrue(side.query())

    def test_streams_do_not_share_free_blocks(self):
        size = 3 << 20
        side = torch.cuda.Stream()
        first = torch.empty(size, dtype=torch.uint8, device=DEVICE)
        address = first.data_ptr()
        del first
        with torch.cuda.stream(side):
            other = torch.empty(size, dtype=torch.uint8, device=DEVICE)
        self.assertNotEqual(other.data_ptr(), address)
        again = torch.empty(size, dtype=torch.uint8, device=DEVICE)
        self.assertEqual(again.data_ptr(), address)

    def test_a_recorded_stream_delays_the_free_until_its_event(self):
        side = torch.cuda.Stream()
        block = torch.empty(3 << 20, dtype=torch.uint8, device=DEVICE)
        address = block.data_ptr()
        block.record_stream(side)
        del block
        self.assertGreaterEqual(torch.cuda.memory_stats()["active_bytes.all.current"], 3 << 20)
        side.synchronize()
        again = torch.empty(3 << 20, dtype=torch.uint8, device=DEVICE)
        self.assertEqual(again.data_ptr(), address)

    def test_an_external_stream_is_used_as_it_is(self):
        side = torch.cuda.Stream()
        external = torch.cuda.ExternalStream(side.cuda_stream)
        with torch.cuda.stream(external):
            self.assertEqual(torch.cuda.current_stream().cuda_stream, side.cuda_stream)
            self.assert_round_trip(torch.arange(10.0))


main()
