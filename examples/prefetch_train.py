"""A transformer whose batches are copied to the device on a stream of their own, one step ahead.

The main stream reads a batch that the copying stream allocated, so PyTorch must be told: record_stream. With --forget it is
not, and the memory of a batch is filled again while the main stream may still read it. The simulated device reports that:

    ./dev sim --clock seeded:7 -- .venv/bin/python examples/prefetch_train.py
    ./dev sim --clock seeded:7 -- .venv/bin/python examples/prefetch_train.py --forget
"""
import argparse
import time

import torch
from torch import nn

BATCH, LENGTH, WIDTH = 8, 64, 256


def make_model():
    layer = nn.TransformerEncoderLayer(WIDTH, nhead=4, dim_feedforward=4 * WIDTH, batch_first=True)
    return nn.TransformerEncoder(layer, num_layers=2, enable_nested_tensor=False).cuda()


class Prefetcher:
    """Batches, copied from pinned memory on a side stream."""

    def __init__(self, record):
        self.stream = torch.cuda.Stream()
        self.record = record
        self.host = torch.randn(BATCH, LENGTH, WIDTH).pin_memory()
        self.ahead = self.copy()

    def copy(self):
        with torch.cuda.stream(self.stream):
            return self.host.to("cuda", non_blocking=True)

    def __next__(self):
        main = torch.cuda.current_stream()
        main.wait_stream(self.stream)
        batch = self.ahead
        if self.record:
            batch.record_stream(main)
        self.ahead = self.copy()
        return batch


def train(steps, record):
    model = make_model()
    optimizer = torch.optim.AdamW(model.parameters())
    batches = Prefetcher(record)
    for _ in range(steps):
        batch = next(batches)
        noisy = batch.clone()
        noisy += torch.randn_like(batch)
        del batch
        optimizer.zero_grad()
        model(noisy).pow(2).mean().backward()
        optimizer.step()
    torch.cuda.synchronize()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=10)
    parser.add_argument("--forget", action="store_true", help="do not tell PyTorch that the main stream reads the batches")
    arguments = parser.parse_args()
    train(arguments.steps, not arguments.forget)
    print(f"trained {arguments.steps} steps")
    # PyTorch's autograd threads take Python's lock once more, to drop the last graph. Python before 3.12 aborts the process
    # when they come for it after the end.
    time.sleep(0.2)
