#!/usr/bin/env python3
"""Allocators of device memory against each other: the same operations, each peer in a process of its own (bench/pool/).

Run by ./dev bench pool. A row is the median of the runs; its value is the CPU time of a pair (a block allocated and one freed),
its ratio the median of the ratios to the reference in the same run.
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess

REFERENCE = "cub"  # whose figures the ratios are of
RUNS = {"hit": 15, "steady": 5, "random": 5, "streams": 5}  # of each peer; the hit is what bounds speak of


def peers(build):
    return sorted(path.stem.removeprefix("libcuheap_bench_") for path in (build / "lib/peers").glob("libcuheap_bench_*.so"))


def rows_of(build, peer, *flags):
    """The rows of one process, by case."""
    text = subprocess.run([build / "bin/cuheap_bench_pool", "--peer", peer, *flags], check=True, stdout=subprocess.PIPE,
                          text=True).stdout
    return {row["case"]: row for row in map(json.loads, text.splitlines())}


def measure(build, workload, runs, flags):
    """{peer: [rows of each run]}. In a run every peer has its turn, so that noise meets all; who comes first alternates."""
    names = peers(build)
    results = {name: [] for name in names}
    for run in range(runs):
        for name in names if run % 2 == 0 else reversed(names):
            results[name].append(rows_of(build, name, "--workload", workload, *flags))
    return results


def median(runs, case, figure):
    return statistics.median(run[case][figure] for run in runs)


def paired_ratio(runs, reference, case):
    return statistics.median(run[case]["cpu"] / other[case]["cpu"] for run, other in zip(runs, reference, strict=True))


def rows(results):
    reference = results[REFERENCE]
    for case, figures in reference[0].items():
        for peer, runs in results.items():
            rest = {figure: median(runs, case, figure) for figure in ("wall", "p50", "p99") if figure in figures}
            yield {"name": f"{case}: {peer}", "value": median(runs, case, "cpu"), "unit": "ns", "bound": None, **rest,
                   "ratio": round(paired_ratio(runs, reference, case), 3)}


def line(cells):
    return "| " + " | ".join(cells) + " |"


def table(title, names, cases, cell):
    yield line([title, *names])
    yield line(["---"] * (1 + len(names)))
    for case, rows in cases.items():
        yield line([case, *(cell(rows, name) for name in names)])


def markdown(rows):
    """Two tables: CPU time with ratios, and quantiles of single pairs."""
    cases = {}
    for row in rows:
        case, peer = row["name"].rsplit(": ", 1)
        cases.setdefault(case, {})[peer] = row
    names = list(next(iter(cases.values())))

    def cpu(case, name):
        return f"{case[name]['value']:.0f} ({case[name]['ratio']:.2f})"

    def quantiles(case, name):
        return f"{case[name]['p50']:.0f} / {case[name]['p99']:.0f}"

    sampled = {name: case for name, case in cases.items() if "p99" in case[REFERENCE]}
    yield from table(f"CPU ns a pair (to {REFERENCE})", names, cases, cpu)
    yield ""
    yield from table("50 / 99 of 100 pairs take at most, ns", names, sampled, quantiles)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a smoke test: one short run, whose times mean nothing")
    parser.add_argument("--markdown", type=pathlib.Path, metavar="FILE", help="measure nothing, print the tables of this result")
    arguments = parser.parse_args()
    if arguments.markdown:
        print("\n".join(markdown(json.loads(arguments.markdown.read_text()))))
        return
    build = pathlib.Path(os.environ["CUHEAP_BENCH_BUILD"])
    for workload, runs in RUNS.items():
        for row in rows(measure(build, workload, 1 if arguments.quick else runs, ["--quick"] if arguments.quick else [])):
            print(json.dumps(row), flush=True)


if __name__ == "__main__":
    main()
