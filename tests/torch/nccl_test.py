"""NCCL in one process: what arrives where, real sums, one rank of torch.distributed, and two devices of DataParallel."""

import ctypes
import os
import threading

import torch
import torch.distributed as dist
from torch import nn
from torch.cuda import nccl

from simulated import SimulatedTest, main

ELEMENTS = 1000
TYPES = (torch.float32, torch.float64, torch.float16, torch.bfloat16, torch.int8, torch.uint8, torch.int32, torch.int64)


def on_devices(values, dtype=torch.float32, elements=ELEMENTS):
    return [torch.full((elements,), value).to(dtype).to(f"cuda:{device}") for device, value in enumerate(values)]


def empty_on_devices(elements=ELEMENTS):
    return on_devices([99, 99], elements=elements)


class CollectivesTest(SimulatedTest):
    def assert_holds(self, tensor, *values):
        pieces = tensor.cpu().float().chunk(len(values))
        self.assertEqual([piece.unique().tolist() for piece in pieces], [[float(value)] for value in values])

    def test_a_sum_is_the_sum_in_every_type(self):
        for dtype in TYPES:
            with self.subTest(dtype=dtype):
                inputs = on_devices([3, 4], dtype)
                nccl.all_reduce(inputs)
                for tensor in inputs:
                    self.assert_holds(tensor, 7)

    def test_other_operations(self):
        product, maximum, minimum = 1, 2, 3
        for operation, expected in ((product, 12), (maximum, 4), (minimum, 3)):
            with self.subTest(operation=operation):
                outputs = empty_on_devices()
                nccl.all_reduce(on_devices([3, 4]), outputs, op=operation)
                for tensor in outputs:
                    self.assert_holds(tensor, expected)

    def test_a_sum_rounds_as_its_type_does(self):
        inputs = [torch.full((8,), value, dtype=torch.float16).to(f"cuda:{i}") for i, value in enumerate((0.1, 0.2))]
        expected = torch.tensor(0.1, dtype=torch.float16) + torch.tensor(0.2, dtype=torch.float16)
        nccl.all_reduce(inputs)
        self.assertEqual(inputs[0].cpu().unique().tolist(), [expected.item()])

    def test_only_the_root_gets_what_is_reduced(self):
        inputs = on_devices([3, 4])
        output = torch.zeros(ELEMENTS).to("cuda:1")
        nccl.reduce(inputs, output, root=1)
        self.assert_holds(output, 7)
        self.assert_holds(inputs[0], 3)

    def test_a_broadcast_brings_what_the_root_has(self):
        tensors = on_devices([3, 4])
        nccl.broadcast(tensors, root=1)
        for tensor in tensors:
            self.assert_holds(tensor, 4)

    def test_gathering_and_scattering_keep_the_order_of_ranks(self):
        outputs = empty_on_devices(2 * ELEMENTS)
        nccl.all_gather(on_devices([3, 4]), outputs)
        for tensor in outputs:
            self.assert_holds(tensor, 3, 4)
        halves = [torch.cat([tensor.cpu(), tensor.cpu() + 10])[:2 * ELEMENTS].to(tensor.device) for tensor in on_devices([3, 4])]
        shares = empty_on_devices()
        nccl.reduce_scatter(halves, shares)
        self.assert_holds(shares[0], 7)
        self.assert_holds(shares[1], 27)

    def test_nothing_runs_before_what_each_rank_has_queued(self):
        host = torch.full((ELEMENTS,), 5.0).pin_memory()
        inputs = empty_on_devices()
        streams = [torch.cuda.Stream(device) for device in range(2)]
        for tensor, stream in zip(inputs, streams):
            with torch.cuda.device(tensor.device), torch.cuda.stream(stream):
                stream.wait_stream(torch.cuda.default_stream(tensor.device))
                tensor.copy_(host, non_blocking=True)
        nccl.all_reduce(inputs, streams=streams)
        for tensor, stream in zip(inputs, streams):
            with torch.cuda.device(tensor.device), torch.cuda.stream(stream):
                self.assert_holds(tensor, 10)


class Identity(ctypes.Structure):
    _fields_ = [("bytes", ctypes.c_char * 128)]


class Rank(threading.Thread):
    """A thread that has one rank of two, and what it does: `job` with a way to call NCCL on its communicator and stream."""

    FLOAT = 7

    def __init__(self, identity, rank, job):
        super().__init__()
        self.identity, self.rank, self.job, self.statuses = identity, rank, job, []
        self.library = ctypes.CDLL("libnccl.so.2")
        self.communicator = ctypes.c_void_p()

    def call(self, name, *arguments):
        words = [ctypes.c_size_t(value) if isinstance(value, int) else value for value in arguments]
        self.statuses.append(getattr(self.library, name)(*words))

    def on_tensors(self, name, *arguments):
        stream = torch.cuda.current_stream(self.rank).cuda_stream
        self.call(name, *(x.data_ptr() if isinstance(x, torch.Tensor) else x for x in arguments), self.communicator, stream)

    def run(self):
        with torch.cuda.device(self.rank):
            torch.zeros(1, device="cuda")
            self.call("ncclCommInitRank", ctypes.byref(self.communicator), 2, self.identity, self.rank)
            self.job(self)
            self.call("ncclCommDestroy", self.communicator)


class RanksTest(SimulatedTest):
    def run_ranks(self, job):
        identity = Identity()
        self.assertEqual(ctypes.CDLL("libnccl.so.2").ncclGetUniqueId(ctypes.byref(identity)), 0)
        ranks = [Rank(identity, rank, job) for rank in range(2)]
        for rank in ranks:
            rank.start()
        for rank in ranks:
            rank.join()
        for rank in ranks:
            self.assertEqual(set(rank.statuses), {0})

    def test_threads_meet_in_a_sum(self):
        tensors = on_devices([3, 4])
        self.run_ranks(lambda me: me.on_tensors("ncclAllReduce", tensors[me.rank], tensors[me.rank], ELEMENTS, me.FLOAT, 0))
        for tensor in tensors:
            self.assertEqual(tensor.cpu().unique().tolist(), [7.0])

    def test_messages_cross(self):
        sent, received = on_devices([3, 4]), empty_on_devices()

        def job(me):
            me.call("ncclGroupStart")
            me.on_tensors("ncclSend", sent[me.rank], ELEMENTS, me.FLOAT, 1 - me.rank)
            me.on_tensors("ncclRecv", received[me.rank], ELEMENTS, me.FLOAT, 1 - me.rank)
            me.call("ncclGroupEnd")

        self.run_ranks(job)
        self.assertEqual([tensor.cpu().unique().tolist() for tensor in received], [[4.0], [3.0]])

    def test_pieces_are_exchanged(self):
        sent = [torch.arange(4.0 * rank, 4.0 * rank + 4).to(f"cuda:{rank}") for rank in range(2)]
        received = empty_on_devices(4)
        self.run_ranks(lambda me: me.on_tensors("ncclAlltoAll", sent[me.rank], received[me.rank], 2, me.FLOAT))
        self.assertEqual([tensor.cpu().tolist() for tensor in received], [[0.0, 1.0, 4.0, 5.0], [2.0, 3.0, 6.0, 7.0]])

    def test_ranks_that_disagree_are_refused(self):
        tensors, statuses = on_devices([3, 4]), []

        def job(me):
            me.on_tensors("ncclAllReduce", tensors[me.rank], tensors[me.rank], ELEMENTS - me.rank, me.FLOAT, 0)
            statuses.append(me.statuses.pop())

        self.run_ranks(job)
        self.assertEqual(statuses, [5, 5])  # ncclInvalidUsage
        self.assertEqual([tensor.cpu().unique().tolist() for tensor in tensors], [[3.0], [4.0]])


    def test_an_identity_of_another_process_is_refused(self):
        library, identity, communicator = ctypes.CDLL("libnccl.so.2"), Identity(), ctypes.c_void_p()
        identity.bytes = b"another"
        self.assertEqual(library.ncclCommInitRank(ctypes.byref(communicator), 2, identity, 1), 5)  # ncclInvalidUsage
        self.assertIsNone(communicator.value)
        self.assertEqual(library.ncclGroupEnd(), 5)


class DistributedTest(SimulatedTest):
    @classmethod
    def setUpClass(cls):
        os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT="0")
        store = dist.HashStore()
        dist.init_process_group("nccl", store=store, rank=0, world_size=1, device_id=torch.device("cuda:0"))

    @classmethod
    def tearDownClass(cls):
        dist.destroy_process_group()

    def test_collectives_of_one_rank_give_its_own_data(self):
        tensor = torch.arange(1000.0).to("cuda:0")
        expected = tensor.cpu()
        for call in (dist.all_reduce, lambda t: dist.broadcast(t, 0), lambda t: dist.reduce(t, 0)):
            call(tensor)
            self.assertTrue(torch.equal(tensor.cpu(), expected))
        output = torch.zeros(1000).to("cuda:0")
        for call in (dist.all_gather_into_tensor, dist.reduce_scatter_tensor, dist.all_to_all_single):
            output.copy_(torch.zeros(1000))
            call(output, tensor)
            self.assertTrue(torch.equal(output.cpu(), expected))
        dist.barrier()

    def test_a_wrapped_model_trains(self):
        model = nn.parallel.DistributedDataParallel(nn.Linear(32, 32).to("cuda:0"), device_ids=[0])
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        for _ in range(3):
            optimizer.zero_grad()
            model(torch.randn(4, 32, device="cuda:0")).sum().backward()
            optimizer.step()
        self.assertEqual(model.module.weight.grad.shape, (32, 32))


class DataParallelTest(SimulatedTest):
    def test_two_devices_train_one_model(self):
        model = nn.DataParallel(nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 8)).to("cuda:0"), device_ids=[0, 1])
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        for _ in range(3):
            optimizer.zero_grad()
            output = model(torch.randn(8, 64, device="cuda:0"))
            output.sum().backward()
            optimizer.step()
        self.assertEqual((output.shape, output.device), ((8, 8), torch.device("cuda:0")))
        self.assertGreater(torch.cuda.max_memory_allocated(1), 0)


main()
