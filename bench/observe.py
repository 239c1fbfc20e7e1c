#!/usr/bin/env python3
"""What being observed costs: a transformer step under the preload, start-up, and the parts of one event.

Run by ./dev bench observe. Kernels cost nothing on the simulated device, so this is the hardest case for the observer.
"""
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

BUILD = pathlib.Path(os.environ["CUHEAP_BENCH_BUILD"])
PRELOAD = BUILD / "lib/libcuheap_preload.so"
HERE = pathlib.Path(__file__).resolve().parent
REPEATS = 7


def row(name, value, unit, bound=None):
    print(json.dumps({"name": name, "value": value, "unit": unit, "bound": bound}), flush=True)


def observed(command, folder, **environment):
    """Runs a command under the preload with default flags, its trace in `folder`."""
    variables = dict(os.environ, LD_PRELOAD=str(PRELOAD), CUHEAP_OUT=f"{folder}/%p.cuheap", **environment)
    return subprocess.run(command, env=variables, check=True, stdout=subprocess.PIPE, text=True).stdout


def seconds(command, preload, folder):
    variables = dict(os.environ)
    if preload:
        variables.update(LD_PRELOAD=str(PRELOAD), CUHEAP_OUT=f"{folder}/%p.cuheap")
    start = time.perf_counter()
    subprocess.run(command, env=variables, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - start


def paired_ratio(command, folder, repeats=REPEATS):
    ratios = []
    for _ in range(repeats):
        without = seconds(command, False, folder)
        ratios.append(seconds(command, True, folder) / without)
    return statistics.median(ratios)


def main():
    with tempfile.TemporaryDirectory() as folder:
        for line in observed([sys.executable, HERE / "observed_step.py"], folder).splitlines():
            print(line, flush=True)
        cold = [sys.executable, "-c", "import torch; torch.ones(1, device='cuda')"]
        row("cold start: import torch and first tensor, observed / not", paired_ratio(cold, folder), "x")
        row("process without CUDA (true), preloaded / not", paired_ratio(["/bin/true"], folder, 301), "x")
        for line in observed([sys.executable, HERE / "event_parts.py"], folder).splitlines():
            print(line, flush=True)


main()
