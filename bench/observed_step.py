#!/usr/bin/env python3
"""A transformer training step (4 layers, AdamW), observed and not, toggled in one process in blocks of 20 steps.

The figure is the median of the ratios of neighbouring blocks: noise that is slower than two blocks cancels.
"""
import gc
import json
import statistics
import time

import torch
import torch.nn as nn

from core_table import watch

STEPS_A_BLOCK = 20
PAIRS = 100


def make_step():
    layer = nn.TransformerEncoderLayer(128, 4, 256, batch_first=True)
    model = nn.TransformerEncoder(layer, 4).cuda()
    optimizer = torch.optim.AdamW(model.parameters())
    batch = torch.randn(8, 32, 128, device="cuda")

    def step():
        optimizer.zero_grad()
        model(batch).mean().backward()
        optimizer.step()

    return step


def deeper(function, frames):
    """`function` called below that many further Python frames."""
    if frames == 0:
        return function

    def frame():
        inner()

    inner = deeper(function, frames - 1)
    return frame


def block(step):
    start = time.perf_counter()
    for _ in range(STEPS_A_BLOCK):
        step()
    return time.perf_counter() - start


def ratio(step):
    """Observed over unobserved; which of a pair comes first alternates."""
    ratios = []
    for pair in range(PAIRS):
        times = {}
        for on in (pair % 2, 1 - pair % 2):
            watch(on)
            times[on] = block(step)
        ratios.append(times[1] / times[0])
    watch(1)
    return statistics.median(ratios)


def row(name, value, unit, bound=None):
    print(json.dumps({"name": name, "value": value, "unit": unit, "bound": bound}), flush=True)


def main():
    step = make_step()
    for _ in range(30):
        step()
    before = torch.cuda.memory_stats()["allocation.all.allocated"]
    step()
    row("allocations a step", torch.cuda.memory_stats()["allocation.all.allocated"] - before, "")
    gc.disable()
    watch(0)
    row("unobserved step", 1e3 * statistics.median(block(step) for _ in range(10)) / STEPS_A_BLOCK, "ms")
    row("observed step / unobserved", ratio(step), "x", 1.05)
    row("the same below 40 frames", ratio(deeper(step, 40)), "x", 1.05)


main()
time.sleep(0.2)  # for the autograd threads, as examples/leaky_train.py says
