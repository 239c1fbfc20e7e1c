"""CUDA graphs: capture, replay, and what a capture refuses."""

import torch
from torch import nn

from simulated import DEVICE, SimulatedTest, main


class GraphTest(SimulatedTest):
    def test_a_replay_executes_the_captured_copies(self):
        target = torch.zeros(1024).to(DEVICE)
        source = torch.arange(1024.0).to(DEVICE)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            target.copy_(source)
        self.assertTrue(torch.equal(target.cpu(), torch.zeros(1024)))
        graph.replay()
        self.assertTrue(torch.equal(target.cpu(), torch.arange(1024.0)))
        source.copy_(torch.ones(1024))
        graph.replay()
        self.assertTrue(torch.equal(target.cpu(), torch.ones(1024)))

    def test_a_capture_follows_side_streams(self):
        data = torch.zeros(1024).to(DEVICE)
        copied = torch.zeros(1024).to(DEVICE)
        graph = torch.cuda.CUDAGraph()
        side = torch.cuda.Stream()
        with torch.cuda.graph(graph):
            side.wait_stream(torch.cuda.current_stream())
            with torch.cuda.stream(side):
                self.assertTrue(torch.cuda.is_current_stream_capturing())
                copied.copy_(data)
            torch.cuda.current_stream().wait_stream(side)
        data.copy_(torch.full((1024,), 7.0))
        graph.replay()
        self.assertTrue(torch.equal(copied.cpu(), torch.full((1024,), 7.0)))
        self.assertFalse(torch.cuda.is_current_stream_capturing())

    def test_a_graph_keeps_a_pool_of_its_own(self):
        data = torch.zeros(1024).to(DEVICE)
        graph = torch.cuda.CUDAGraph()
        before = torch.cuda.memory_reserved()
        with torch.cuda.graph(graph):
            doubled = data * 2
        self.assertGreater(torch.cuda.memory_reserved(), before)
        pools = {tuple(segment["segment_pool_id"]) for segment in torch.cuda.memory_snapshot()}
        self.assertIn(tuple(graph.pool()), pools)
        del doubled
        graph.reset()
        torch.cuda.empty_cache()
        self.assertLessEqual(torch.cuda.memory_reserved(), before)

    def test_synchronising_is_refused_while_capturing(self):
        # At the level of the driver: what `with torch.cuda.graph` does at its end would hide the first error.
        stream = torch.cuda.Stream()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.stream(stream):
            graph.capture_begin()
            with self.assertRaisesRegex(RuntimeError, "not permitted when stream is capturing"):
                torch.cuda.synchronize()
            with self.assertRaises(RuntimeError):
                graph.capture_end()
        torch.cuda.synchronize()

    def test_graphed_callables_train(self):
        model = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 8)).to(DEVICE)
        graphed = torch.cuda.make_graphed_callables(model, (torch.randn(8, 64, device=DEVICE),))
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        for _ in range(3):
            optimizer.zero_grad(set_to_none=False)
            output = graphed(torch.randn(8, 64, device=DEVICE))
            self.assertEqual(output.shape, (8, 8))
            output.sum().backward()
            optimizer.step()

    def test_each_replay_reads_its_inputs_anew(self):
        counter = torch.zeros(1).to(DEVICE)
        one = torch.ones(1).to(DEVICE)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            counter.copy_(one)
        for value in range(5):
            one.copy_(torch.tensor([float(value)]))
            graph.replay()
            self.assertEqual(counter.item(), float(value))


main()
