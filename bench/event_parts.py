#!/usr/bin/env python3
"""Nanoseconds of the parts of one observed event, the real capture and ledger called in loops."""
import ctypes
import json
import os
import pathlib
import tempfile

CALLS = 200_000


def load():
    library = ctypes.CDLL(str(pathlib.Path(os.environ["CUHEAP_BENCH_BUILD"]) / "lib/libcuheap_bench_parts.so"))
    for name in ("python", "native", "memo", "owner", "ledger"):
        getattr(library, f"cuheap_bench_{name}").restype = ctypes.c_double
    return library


def row(name, value):
    print(json.dumps({"name": name, "value": value, "unit": "ns", "bound": None}), flush=True)


def below(frames, function):
    return function() if frames <= 0 else below(frames - 1, function)


def python_walk(library, wanted):
    frames = ctypes.c_int()
    own = 5  # main, python_walk, below, the lambda and the module are frames too
    nanoseconds = below(wanted - own, lambda: library.cuheap_bench_python(CALLS, ctypes.byref(frames)))
    row(f"walk of {frames.value} Python frames", nanoseconds)


def main():
    library = load()
    for frames in (5, 20, 60):
        python_walk(library, frames)
    row("walk of 24 native frames by unwind tables", library.cuheap_bench_native(CALLS))
    row("the same stack, seen before", library.cuheap_bench_memo(CALLS))
    row("owner library of an address", library.cuheap_bench_owner(CALLS))
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/ledger.cuheap".encode()
        for live in (100, 10_000):
            pair = library.cuheap_bench_ledger(CALLS, live, path)
            row(f"ledger event, {live} live blocks", pair / 2)
        library.cuheap_bench_close()


main()
