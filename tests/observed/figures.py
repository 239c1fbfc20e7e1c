"""A job that allocates in many shapes, writes down torch's and the simulated device's own figures, and ends at once with nothing pending.

    figures.py OUT.json
"""
import ctypes
import json
import os
import sys

import torch

MIB = 1 << 20


def fill(device):
    """Live blocks, holes between them, and segments with nothing in them."""
    sizes = [512, 4096, 70_000, 300_000, MIB + 1, 3 * MIB, 9 * MIB, 15 * MIB, 40 * MIB, 2 * MIB]
    blocks = [torch.empty(size, dtype=torch.uint8, device=device) for size in sizes * 6]
    idle = [torch.empty(64 * MIB, dtype=torch.uint8, device=device) for _ in range(3)]
    del blocks[::3], idle[1:]
    model = torch.nn.Linear(256, 256).to(device)
    model(torch.randn(32, 256, device=device)).sum().backward()
    return blocks, idle, model


def own_use(device):
    """What the simulated device lists as its own: contexts and the like, no allocation of anybody's."""
    sim = ctypes.CDLL("libcuheap_sim.so")
    sim.cuheap_sim_used.restype = ctypes.c_uint64
    kinds = {"context": 0, "static": 4}
    return {name: sim.cuheap_sim_used(device, kind) for name, kind in kinds.items()}


def main():
    kept = [fill(torch.device("cuda", i)) for i in range(torch.cuda.device_count())]
    torch.cuda.synchronize()
    devices = []
    for i in range(torch.cuda.device_count()):
        stats = torch.cuda.memory_stats(i)
        devices.append({
            "active": stats["active_bytes.all.current"],
            "blocks": stats["active.all.current"],
            "reserved": stats["reserved_bytes.all.current"],
            "peak": stats["active_bytes.all.peak"],
            "own": own_use(i),
        })
    figures = {"devices": devices, "segments": torch.cuda.memory_snapshot()}
    for i, device in enumerate(devices):
        free, total = torch.cuda.mem_get_info(i)
        device["used"] = total - free
    with open(sys.argv[1], "w", encoding="utf-8") as out:
        json.dump(figures, out, default=str)
    assert kept
    os._exit(0)


main()
