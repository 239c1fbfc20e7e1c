"""Training steps of the usual kinds of network."""

import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils.checkpoint import checkpoint

from simulated import DEVICE, SimulatedTest, main


def convolutional_net():
    return nn.Sequential(
        nn.Conv2d(3, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(16, 32, 3), nn.BatchNorm2d(32), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(32, 10),
    ).to(DEVICE)


class TrainingTest(SimulatedTest):
    def train(self, model, optimizer, loss, steps=3):
        """Steps, after which every parameter has a gradient of its own size and memory no longer grows."""
        live = []
        for _ in range(steps):
            optimizer.zero_grad()
            loss(model).backward()
            optimizer.step()
            live.append(torch.cuda.memory_allocated())
        for parameter in model.parameters():
            self.assertEqual(parameter.grad.shape, parameter.shape)
        self.assertEqual(live[-1], live[-2])

    def train_convolutional_net(self):
        model = convolutional_net()
        self.train(model, torch.optim.SGD(model.parameters(), lr=0.1), lambda net: F.cross_entropy(
            net(torch.randn(8, 3, 32, 32, device=DEVICE)), torch.randint(0, 10, (8,), device=DEVICE)))

    def test_perceptron_with_adam(self):
        model = nn.Sequential(nn.Linear(256, 512), nn.ReLU(), nn.LayerNorm(512), nn.Dropout(0.1), nn.Linear(512, 10)).to(DEVICE)
        optimizer = torch.optim.Adam(model.parameters())
        self.train(model, optimizer, lambda net: F.cross_entropy(
            net(torch.randn(64, 256, device=DEVICE)), torch.randint(0, 10, (64,), device=DEVICE)))
        for parameter in model.parameters():
            self.assertEqual(optimizer.state[parameter]["exp_avg"].shape, parameter.shape)

    def test_fused_and_foreach_optimizers(self):
        model = nn.Linear(64, 64).to(DEVICE)
        for optimizer in (torch.optim.AdamW(model.parameters(), fused=True),
                          torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, foreach=True)):
            self.train(model, optimizer, lambda net: net(torch.randn(8, 64, device=DEVICE)).sum())

    def test_convolutions_with_cudnn(self):
        self.assertTrue(torch.backends.cudnn.is_available())
        self.train_convolutional_net()

    def test_convolutions_without_cudnn(self):
        with torch.backends.cudnn.flags(enabled=False):
            self.train_convolutional_net()

    def test_convolutions_with_cudnn_in_benchmark_mode(self):
        with torch.backends.cudnn.flags(enabled=True, benchmark=True):
            self.train_convolutional_net()

    def test_channels_last_in_half_precision(self):
        model = convolutional_net().to(memory_format=torch.channels_last)
        images = torch.randn(8, 3, 32, 32, device=DEVICE).to(memory_format=torch.channels_last)
        with torch.autocast(DEVICE, torch.float16):
            output = model(images)
        self.assertEqual(output.dtype, torch.float16)
        output.sum().backward()
        self.assertIsNotNone(model[0].weight.grad)

    def test_transformer(self):
        model = nn.TransformerEncoder(nn.TransformerEncoderLayer(128, 4, 256, batch_first=True), 2).to(DEVICE)
        self.train(model, torch.optim.AdamW(model.parameters()),
                   lambda net: net(torch.randn(4, 32, 128, device=DEVICE)).mean())

    def test_attention_with_every_backend(self):
        cases = {SDPBackend.FLASH_ATTENTION: torch.bfloat16, SDPBackend.EFFICIENT_ATTENTION: torch.float32,
                 SDPBackend.MATH: torch.bfloat16, SDPBackend.CUDNN_ATTENTION: torch.bfloat16}
        for backend, dtype in cases.items():
            with self.subTest(backend=backend), sdpa_kernel(backend):
                query, key, value = (torch.randn(2, 4, 128, 64, device=DEVICE, dtype=dtype, requires_grad=True)
                                     for _ in range(3))
                output = F.scaled_dot_product_attention(query, key, value, is_causal=True)
                self.assertEqual(output.shape, query.shape)
                output.sum().backward()
                self.assertEqual(key.grad.shape, key.shape)

    def test_transformer_trains_with_every_backend(self):
        for backend in (SDPBackend.FLASH_ATTENTION, SDPBackend.EFFICIENT_ATTENTION, SDPBackend.MATH,
                        SDPBackend.CUDNN_ATTENTION):
            with self.subTest(backend=backend), sdpa_kernel(backend):
                layer = nn.TransformerEncoderLayer(128, 2, 256, batch_first=True, dropout=0.0)
                model = nn.TransformerEncoder(layer, 2).to(DEVICE, torch.bfloat16)
                self.train(model, torch.optim.AdamW(model.parameters()),
                           lambda net: net(torch.randn(4, 32, 128, device=DEVICE, dtype=torch.bfloat16)).mean())

    def test_mixed_precision_with_a_gradient_scaler(self):
        model = nn.Sequential(nn.Linear(64, 64), nn.GELU(), nn.Linear(64, 64)).to(DEVICE)
        optimizer = torch.optim.Adam(model.parameters())
        scaler = torch.amp.GradScaler(DEVICE)
        for _ in range(3):
            with torch.autocast(DEVICE, torch.float16):
                output = model(torch.randn(8, 64, device=DEVICE))
            self.assertEqual(output.dtype, torch.float16)
            optimizer.zero_grad()
            scaler.scale(output.float().pow(2).mean()).backward()
            scaler.unscale_(optimizer)
            scaler.step(optimizer)
            scaler.update()

    def test_checkpointing_keeps_less_between_forward_and_backward(self):
        layers = nn.ModuleList(nn.Sequential(nn.Linear(256, 256), nn.Dropout(0.1), nn.ReLU()) for _ in range(4)).to(DEVICE)

        def held_after_forward(run):
            data = hidden = torch.randn(512, 256, device=DEVICE, requires_grad=True)
            before = torch.cuda.memory_allocated()
            for layer in layers:
                hidden = run(layer, hidden)
            held = torch.cuda.memory_allocated() - before
            hidden.sum().backward()
            self.assertEqual(data.grad.shape, data.shape)
            return held

        plain = held_after_forward(lambda layer, hidden: layer(hidden))
        for reentrant in (True, False):
            self.assertLess(held_after_forward(
                lambda layer, hidden: checkpoint(layer, hidden, use_reentrant=reentrant)), plain)

    def test_embedding(self):
        model = nn.Embedding(1000, 64).to(DEVICE)
        model(torch.randint(0, 1000, (4, 16), device=DEVICE)).sum().backward()
        self.assertEqual(model.weight.grad.shape, (1000, 64))

    def test_recurrent_networks_ask_for_plausible_memory(self):
        for kind in (nn.LSTM, nn.GRU, nn.RNN):
            for options in ({}, {"bidirectional": True}, {"bias": False}):
                with self.subTest(kind=kind.__name__, **options):
                    model = kind(32, 64, 2, batch_first=True, **options).to(DEVICE)
                    torch.cuda.reset_peak_memory_stats()
                    output, _ = model(torch.randn(4, 10, 32, device=DEVICE))
                    self.assertEqual(output.shape, (4, 10, 128 if options.get("bidirectional") else 64))
                    output.sum().backward()
                    self.assertEqual(model.weight_hh_l1.grad.shape, model.weight_hh_l1.shape)
                    self.assertLess(torch.cuda.max_memory_allocated(), 256 << 20)

    def test_weights_of_a_recurrent_network_survive_being_flattened(self):
        for options in ({}, {"proj_size": 16}, {"bidirectional": True}):
            with self.subTest(**options):
                model = nn.LSTM(32, 64, 2, **options)
                before = [parameter.detach().clone() for parameter in model.parameters()]
                model.to(DEVICE)
                for parameter, value in zip(model.parameters(), before):
                    self.assertTrue(torch.equal(parameter.detach().cpu(), value))


main()
