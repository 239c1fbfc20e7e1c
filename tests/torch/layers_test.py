"""Layers beside the usual ones, and one script that uses many libraries: convolutions, an LSTM and linear algebra."""

import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from simulated import DEVICE, SimulatedTest, main


class Captioner(nn.Module):
    """Images become a sequence that an LSTM reads; attention over its outputs; a head whose weight is made orthogonal."""

    def __init__(self):
        super().__init__()
        self.eyes = nn.Sequential(nn.Conv2d(3, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU(), nn.MaxPool2d(4))
        self.reader = nn.LSTM(16 * 8, 64, num_layers=2, batch_first=True, bidirectional=True, dropout=0.1)
        self.attention = nn.MultiheadAttention(128, 4, batch_first=True)
        self.head = nn.Linear(128, 10)

    def forward(self, images):
        features = self.eyes(images).permute(0, 2, 1, 3).flatten(2)
        read, _ = self.reader(features)
        attended, _ = self.attention(read, read, read, need_weights=False)
        return self.head(attended.mean(1))


class LayersTest(SimulatedTest):
    def forward_and_backward(self, layer, *shape):
        data = torch.randn(*shape, device=DEVICE, requires_grad=True)
        output = layer(data)
        output.sum().backward()
        self.assertEqual(data.grad.shape, data.shape)
        for parameter in layer.parameters():
            self.assertEqual(parameter.grad.shape, parameter.shape)
        return tuple(output.shape)

    def test_convolutions_of_every_rank(self):
        cases = ((nn.Conv1d(4, 8, 3), (2, 4, 16), (2, 8, 14)), (nn.Conv3d(4, 8, 3), (2, 4, 8, 8, 8), (2, 8, 6, 6, 6)),
                 (nn.ConvTranspose2d(4, 8, 3, stride=2), (2, 4, 8, 8), (2, 8, 17, 17)),
                 (nn.Conv2d(4, 8, 3, groups=4), (2, 4, 8, 8), (2, 8, 6, 6)),
                 (nn.Conv2d(4, 8, 3, dilation=2, stride=2), (2, 4, 16, 16), (2, 8, 6, 6)))
        for layer, given, expected in cases:
            for benchmark in (False, True):
                with self.subTest(layer=layer, benchmark=benchmark), torch.backends.cudnn.flags(enabled=True, benchmark=benchmark):
                    self.assertEqual(self.forward_and_backward(layer.to(DEVICE), *given), expected)

    def test_a_convolution_of_a_slice_touches_the_slice_only(self):
        images = torch.randn(2, 8, 16, 16, device=DEVICE)[:, 2:5, 4:12, 4:12]
        self.assertEqual(nn.Conv2d(3, 4, 3).to(DEVICE)(images).shape, (2, 4, 6, 6))

    def test_products_of_slices_at_the_end_of_their_memory(self):
        block = torch.randn(512, 512, device=DEVICE)  # a mebibyte: an allocation without a remainder
        for left, right in ((block[256:, 256:], block[256:, 256:]), (block[-8:].t(), block[-8:]), (block[-1:], block[:, -1:])):
            self.assertEqual((left @ right).shape, (left.shape[0], right.shape[1]))
        first, second = block[-4:].view(4, 16, 32)[..., :16], block[-8:].view(4, 16, 64)[..., -16:]
        self.assertEqual(torch.bmm(first, second).shape, (4, 16, 16))

    def test_recurrent_layers_train(self):
        for kind in (nn.LSTM, nn.GRU, nn.RNN):
            for options in ({}, {"bidirectional": True, "num_layers": 2, "dropout": 0.2}):
                with self.subTest(kind=kind.__name__, **options):
                    model = kind(16, 32, batch_first=True, **options).to(DEVICE)
                    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
                    for _ in range(2):
                        optimizer.zero_grad()
                        output, state = model(torch.randn(4, 10, 16, device=DEVICE))
                        (output.sum() + (state[0] if kind is nn.LSTM else state).sum()).backward()
                        optimizer.step()
                    self.assertEqual(model.weight_ih_l0.grad.shape, model.weight_ih_l0.shape)

    def test_sequences_of_different_lengths(self):
        model = nn.LSTM(16, 32, batch_first=True).to(DEVICE)
        packed = pack_padded_sequence(torch.randn(3, 10, 16, device=DEVICE), torch.tensor([10, 7, 3]), batch_first=True)
        output, lengths = pad_packed_sequence(model(packed)[0], batch_first=True)
        self.assertEqual((output.shape, lengths.tolist()), ((3, 10, 32), [10, 7, 3]))
        output.sum().backward()

    def test_cells_and_projections(self):
        self.assertEqual(nn.LSTM(16, 32, proj_size=8).to(DEVICE)(torch.randn(5, 2, 16, device=DEVICE))[0].shape, (5, 2, 8))
        self.assertEqual(nn.LSTMCell(16, 32).to(DEVICE)(torch.randn(2, 16, device=DEVICE))[0].shape, (2, 32))
        self.assertEqual(nn.GRUCell(16, 32).to(DEVICE)(torch.randn(2, 16, device=DEVICE)).shape, (2, 32))

    def test_connectionist_temporal_loss(self):
        steps, sequences, labels = 20, 2, 4
        targets = torch.ones(sequences * labels, dtype=torch.int32)
        lengths = torch.tensor([steps] * sequences, dtype=torch.int32), torch.tensor([labels] * sequences, dtype=torch.int32)
        cases = {"labels on the host": (targets, *(tuple(length.tolist()) for length in lengths)),
                 "labels on the device": (targets.to(DEVICE), *(length.to(DEVICE) for length in lengths)),
                 "the wheel's own kernels": (targets.long().view(sequences, labels).to(DEVICE), *lengths)}
        for name, arguments in cases.items():
            with self.subTest(name=name):
                scores = torch.randn(steps, sequences, 6, device=DEVICE, requires_grad=True)
                F.ctc_loss(scores.log_softmax(2), *arguments).backward()
                self.assertEqual(scores.grad.shape, scores.shape)

    def test_other_layers(self):
        cases = ((nn.GroupNorm(2, 8), (2, 8, 4, 4)), (nn.InstanceNorm2d(8, affine=True), (2, 8, 4, 4)),
                 (nn.BatchNorm1d(8), (4, 8)), (nn.BatchNorm3d(8), (2, 8, 4, 4, 4)), (nn.PReLU(), (2, 8)),
                 (nn.AvgPool2d(2), (2, 8, 4, 4)), (nn.Upsample(scale_factor=2, mode="bilinear"), (2, 8, 4, 4)),
                 (nn.Bilinear(8, 8, 4).to(DEVICE), None))
        for layer, shape in cases:
            with self.subTest(layer=layer):
                if shape is not None:
                    self.forward_and_backward(layer.to(DEVICE), *shape)
                else:
                    self.assertEqual(layer(*torch.randn(2, 3, 8, device=DEVICE)).shape, (3, 4))

    def test_grids(self):
        theta = torch.randn(2, 2, 3, device=DEVICE, requires_grad=True)
        images = torch.randn(2, 3, 8, 8, device=DEVICE, requires_grad=True)
        sampled = F.grid_sample(images, F.affine_grid(theta, (2, 3, 6, 6), align_corners=True), align_corners=True)
        sampled.sum().backward()
        self.assertEqual((sampled.shape, theta.grad.shape, images.grad.shape), ((2, 3, 6, 6), theta.shape, images.shape))

    def test_embeddings(self):
        bag = nn.EmbeddingBag(100, 16).to(DEVICE)
        words = torch.zeros(8, dtype=torch.long).to(DEVICE)
        bag(words, torch.tensor([0, 4]).to(DEVICE)).sum().backward()
        self.assertEqual(bag.weight.grad.shape, (100, 16))
        sparse = nn.Embedding(100, 16, sparse=True).to(DEVICE)
        sparse(words).sum().backward()
        self.assertTrue(sparse.weight.grad.is_sparse)
        torch.optim.SGD(sparse.parameters(), lr=0.1).step()

    def test_one_script_with_many_libraries(self):
        model = Captioner().to(DEVICE)
        optimizer = torch.optim.AdamW(model.parameters())
        live = []
        for _ in range(4):
            optimizer.zero_grad()
            scores = model(torch.randn(4, 3, 32, 32, device=DEVICE))
            spectrum = torch.fft.rfft(scores).abs().mean()
            # The checked variants read a sum that a kernel makes.
            factor, info = torch.linalg.cholesky_ex(scores.t() @ scores + torch.eye(10, device=DEVICE))
            self.assertEqual(info.item(), 0)
            loss = F.cross_entropy(scores, torch.randint(0, 10, (4,), device=DEVICE)) + spectrum + factor.diagonal().sum()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            with torch.no_grad():
                model.head.weight.copy_(torch.linalg.qr(model.head.weight.t()).Q.t())
            del scores, spectrum, factor, info, loss
            live.append(torch.cuda.memory_allocated())
        self.assertEqual(live[-1], live[-2])
        self.assertLess(torch.cuda.max_memory_allocated(), 256 << 20)


main()
