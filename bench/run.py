#!/usr/bin/env python3
"""Runs the benchmarks: each bench/NAME.py prints rows of JSON; here they become a table and build/bench/NAME.json.

A row is {name, value, unit, bound, ok}: bound null means that the value is reported, not judged. Exit status 1 if a bound is missed.
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
BENCHMARKS = ["observe", "simulate", "pool"]


def run(name, build, sim):
    environment = dict(os.environ, LD_LIBRARY_PATH=str(sim), CUHEAP_BENCH_BUILD=str(build), CUHEAP_QUIET="1")
    text = subprocess.run([sys.executable, HERE / f"{name}.py"], env=environment, check=True, stdout=subprocess.PIPE, text=True).stdout
    return [judged(json.loads(line)) for line in text.splitlines() if line.startswith("{")]


def judged(row):
    bound = row.setdefault("bound", None)
    row["ok"] = bound is None or row["value"] <= bound
    return row


def table(rows):
    width = max(len(row["name"]) for row in rows)
    for row in rows:
        bound = "" if row["bound"] is None else f"<= {row['bound']:g}  {'ok' if row['ok'] else 'MISSED'}"
        print(f"{row['name']:{width}}  {row['value']:>10.3f} {row['unit']:8} {bound}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", default=BENCHMARKS, metavar="NAME", help=", ".join(BENCHMARKS))
    parser.add_argument("--build", required=True, type=pathlib.Path)
    parser.add_argument("--sim", required=True, type=pathlib.Path)
    arguments = parser.parse_args()
    missed = False
    for name in arguments.names or BENCHMARKS:
        if name not in BENCHMARKS:
            parser.error(f"no benchmark '{name}': {', '.join(BENCHMARKS)}")
        rows = run(name, arguments.build.resolve(), arguments.sim.resolve())
        out = HERE.parent / "build/bench" / f"{name}.json"
        out.parent.mkdir(parents=True, exist_ok=True)
        out.write_text(json.dumps(rows, indent=1) + "\n")
        table(rows)
        missed |= any(not row["ok"] for row in rows)
    return 1 if missed else 0


sys.exit(main())
