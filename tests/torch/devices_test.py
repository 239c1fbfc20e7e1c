"""Two devices in one process."""

import torch
from torch import nn

from simulated import SimulatedTest, main, used


class DevicesTest(SimulatedTest):
    def test_copies_between_devices_keep_their_values(self):
        host = torch.arange(12.0).reshape(3, 4)
        self.assertTrue(torch.equal(host.to("cuda:0").to("cuda:1").to("cuda:0").cpu(), host))
        self.assertTrue(torch.cuda.can_device_access_peer(0, 1))

    def test_memory_is_counted_on_its_own_device(self):
        before = [torch.cuda.memory_allocated(i) for i in range(2)]
        block = torch.empty(64 << 20, dtype=torch.uint8, device="cuda:1")
        self.assertEqual([torch.cuda.memory_allocated(i) - before[i] for i in range(2)], [0, block.numel()])
        self.assertGreaterEqual(used(1), block.numel())

    def test_a_model_lies_on_both(self):
        first = nn.Linear(64, 64).to("cuda:0")
        second = nn.Linear(64, 64).to("cuda:1")
        second(first(torch.randn(8, 64, device="cuda:0")).to("cuda:1")).sum().backward()
        self.assertEqual(first.weight.grad.device, torch.device("cuda:0"))
        self.assertEqual(second.weight.grad.device, torch.device("cuda:1"))

    def test_data_parallel(self):
        model = nn.DataParallel(nn.Linear(64, 64).to("cuda:0"), device_ids=[0, 1])
        output = model(torch.randn(8, 64, device="cuda:0"))
        self.assertEqual((output.shape, output.device), ((8, 64), torch.device("cuda:0")))
        output.sum().backward()
        self.assertEqual(model.module.weight.grad.shape, (64, 64))

    def test_the_current_device_is_per_thread(self):
        import threading

        seen = []
        with torch.cuda.device(1):
            thread = threading.Thread(target=lambda: seen.append(torch.cuda.current_device()))
            thread.start()
            thread.join()
            self.assertEqual(torch.cuda.current_device(), 1)
        self.assertEqual(seen, [0])


main()
