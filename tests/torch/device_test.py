"""Devices, properties and copies."""

import torch

from simulated import DEVICE, SimulatedTest, main, mapped_libraries


class DeviceTest(SimulatedTest):
    def test_two_devices_are_available(self):
        self.assertTrue(torch.cuda.is_available())
        self.assertEqual(torch.cuda.device_count(), 2)

    def test_every_library_the_wheel_wants_is_the_simulated_one(self):
        names = {path.rsplit("/", 1)[-1].split(".so")[0] for path in mapped_libraries()}
        self.assertLessEqual({"libcudart", "libcublas", "libcudnn", "libnccl", "libcusparse", "libcufft"}, names)

    def test_properties_are_those_of_the_settings(self):
        properties = torch.cuda.get_device_properties(0)
        self.assertEqual(properties.name, "Simulated CUDA Device")
        self.assertEqual((properties.major, properties.minor), (9, 0))
        self.assertEqual(properties.multi_processor_count, 132)
        self.assertEqual(properties.total_memory, 4 << 30)
        self.assertEqual(torch.cuda.get_device_capability(1), (9, 0))

    def test_devices_have_identities_of_their_own(self):
        first, second = (torch.cuda.get_device_properties(i) for i in range(2))
        self.assertNotEqual(str(first.uuid), str(second.uuid))
        self.assertNotEqual(first.pci_bus_id, second.pci_bus_id)

    def test_stream_priorities_have_a_range(self):
        least, greatest = torch.cuda.Stream.priority_range()
        self.assertLess(greatest, least)
        self.assertEqual(torch.cuda.Stream(priority=greatest).priority, greatest)

    def test_copies_keep_their_values(self):
        for shape in [(), (1,), (3, 4), (1 << 20,), (5, 0, 2)]:
            self.assert_round_trip(torch.randn(shape))
        self.assert_round_trip(torch.arange(1000, dtype=torch.int64))
        self.assert_round_trip(torch.randn(16, 16).bfloat16())

    def test_a_slice_is_copied_from_where_it_lies(self):
        host = torch.arange(12.0).reshape(3, 4)
        self.assertTrue(torch.equal(host.to(DEVICE)[1].cpu(), host[1]))

    def test_pinned_memory_is_known_as_pinned(self):
        host = torch.arange(100.0)
        pinned = host.pin_memory()
        self.assertFalse(host.is_pinned())
        self.assertTrue(pinned.is_pinned())
        self.assertTrue(torch.equal(pinned.to(DEVICE, non_blocking=True).cpu(), host))

    def test_events_measure_time_that_passes(self):
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        start.record()
        torch.zeros(1000, device=DEVICE)
        end.record()
        end.synchronize()
        self.assertGreaterEqual(start.elapsed_time(end), 0.0)

    def test_shapes_that_depend_on_data_are_empty_and_do_not_fail(self):
        values = torch.zeros(100).to(DEVICE)
        self.assertEqual(torch.nonzero(values).shape[1], 1)
        self.assertEqual(values[values > 0].dim(), 1)

    def test_sorting_and_selection_run(self):
        values = torch.randn(4, 1000, device=DEVICE)
        self.assertEqual(values.sort().values.shape, (4, 1000))
        self.assertEqual(values.topk(5).indices.shape, (4, 5))
        self.assertEqual(values.cumsum(1).shape, (4, 1000))
        self.assertEqual(values.argmax(1).shape, (4,))
        self.assertEqual(torch.randperm(1000, device=DEVICE).shape, (1000,))

    def test_scalars_come_to_the_host(self):
        self.assertEqual(torch.tensor(3.5).to(DEVICE).item(), 3.5)
        self.assertIn("device='cuda:0'", repr(torch.tensor([1, 2]).to(DEVICE)))

    def test_the_profiler_sees_memory(self):
        from torch.profiler import ProfilerActivity, profile

        with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA], profile_memory=True) as profiler:
            torch.nn.Linear(8, 8).to(DEVICE)(torch.randn(4, 8, device=DEVICE))
        self.assertTrue(any(event.device_memory_usage for event in profiler.events()))


main()
