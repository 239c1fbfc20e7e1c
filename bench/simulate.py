#!/usr/bin/env python3
"""What the simulated device costs: calls of it in loops, in one process (simulated_device.cc)."""
import os
import pathlib
import subprocess

subprocess.run([pathlib.Path(os.environ["CUHEAP_BENCH_BUILD"]) / "bin/cuheap_bench_simulated_device"], check=True)
