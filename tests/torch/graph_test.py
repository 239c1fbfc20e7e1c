"""CUDA graphs: capture, replay, and what a capture refuses."""

import ctypes

import torch
from torch import nn

from simulated import DEVICE, SimulatedTest, main


def nodes_of(graph):
    count = ctypes.c_size_t()
    status = ctypes.CDLL("libcudart.so.13").cudaGraphGetNodes(ctypes.c_void_p(graph.raw_cuda_graph()), None, ctypes.byref(count))
    assert status == 0
    return count.value


class GraphTest(SimulatedTest):
    def test_the_work_of_libraries_is_in_a_capture(self):
        matrix = torch.randn(32, 32, device=DEVICE)
        images = torch.randn(2, 3, 16, 16, device=DEVICE)
        layers = {"convolution": nn.Conv2d(3, 4, 3).to(DEVICE), "recurrent": nn.LSTM(32, 32).to(DEVICE)}
        sparse = torch.eye(32).to_sparse_coo().to(DEVICE).coalesce()
        work = {"product": lambda: matrix @ matrix, "batch": lambda: torch.bmm(matrix[None], matrix[None]),
                "product with a bias": lambda: torch.addmm(matrix[0], matrix, matrix),
                "convolution": lambda: layers["convolution"](images), "transform": lambda: torch.fft.fft(matrix),
                "recurrent": lambda: layers["recurrent"](matrix), "factorisation": lambda: torch.linalg.cholesky_ex(matrix),
                "sparse product": lambda: torch.sparse.mm(sparse, matrix)}
        for name, run in work.items():
            with self.subTest(name=name), torch.no_grad():
                run()  # what is made once is made outside
                graph = torch.cuda.CUDAGraph(keep_graph=True)
                with torch.cuda.graph(graph):
                    kept = run()
                self.assertGreaterEqual(nodes_of(graph), 1)
                graph.instantiate()
                graph.replay()
                del kept

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
