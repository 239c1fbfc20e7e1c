"""The same loop as leaky_train.py without its leak: the number of the loss is kept, not the tensor. The report flags nothing.

    ./dev sim -- build/release/bin/cuheap run -o b.cuheap -- .venv/bin/python examples/healthy_train.py
    build/release/bin/cuheap report b.cuheap
"""
import argparse
import collections
import time

import torch

from leaky_train import BATCH, WIDTH, Positions, checkpoint, make_model


def train(steps):
    model = make_model()
    optimizer = torch.optim.AdamW(model.parameters())
    positions = Positions()
    checkpoints = collections.deque(maxlen=3)
    losses = []
    for step in range(steps):
        batch = torch.randn(BATCH, WIDTH, device="cuda") + positions.get(128 * (1 + step % 8)).mean()
        loss = (model(batch) - batch).pow(2).mean()
        losses.append(loss.item())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 10 == 0:
            checkpoints.append(checkpoint(model))
    return len(losses)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=400)
    print(f"kept {train(parser.parse_args().steps)} numbers")
    # PyTorch's autograd threads take Python's lock once more, to drop the last graph. Python before 3.12 aborts the process
    # when they come for it after the end.
    time.sleep(0.2)
