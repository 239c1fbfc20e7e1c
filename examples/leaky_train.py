"""The classic leak: the loss tensor, not its number, is appended to a list, so every step keeps its whole activation graph.

Beside it stands what looks like a leak and is none: weights, lazily created optimizer state, a cache that is filled in the first
steps, and a ring of the last three checkpoints. `cuheap report` names the first and only the first.

    ./dev sim -- build/release/bin/cuheap run -o a.cuheap -- .venv/bin/python examples/leaky_train.py
    build/release/bin/cuheap report a.cuheap
"""
import argparse
import collections
import time

import torch
import torch.nn as nn

BATCH, WIDTH = 1024, 1024


def make_model():
    return nn.Sequential(nn.Linear(WIDTH, WIDTH), nn.ReLU(), nn.Linear(WIDTH, WIDTH)).cuda()


class Positions:
    """An honest cache: eight entries, filled as they are first asked for."""

    def __init__(self):
        self.entries = {}

    def get(self, length):
        if length not in self.entries:
            self.entries[length] = torch.zeros(length, WIDTH, device="cuda")
        return self.entries[length]


def checkpoint(model):
    return [parameter.detach().clone() for parameter in model.parameters()]


def train(steps):
    model = make_model()
    optimizer = torch.optim.AdamW(model.parameters())
    positions = Positions()
    checkpoints = collections.deque(maxlen=3)
    losses = []
    for step in range(steps):
        batch = torch.randn(BATCH, WIDTH, device="cuda") + positions.get(128 * (1 + step % 8)).mean()
        error = model(batch) - batch
        losses.append(error)  # the leak: `error` keeps its 4 MiB; float(error.mean()) would not
        optimizer.zero_grad()
        error.pow(2).mean().backward()
        optimizer.step()
        if step % 10 == 0:
            checkpoints.append(checkpoint(model))
    return len(losses)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=400)
    print(f"kept {train(parser.parse_args().steps)} tensors")
    # PyTorch's autograd threads take Python's lock once more, to drop the last graph. Python before 3.12 aborts the process
    # when they come for it after the end.
    time.sleep(0.2)
