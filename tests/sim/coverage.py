#!/usr/bin/env python3
"""Writes the tables of docs/simulated-device.md: what the simulated device can do, function by function.

The names and their groups come from cuda.h and cuda_runtime_api.h, what is written from the compiled objects (a function
that nobody wrote exists in a weak form only), and what is incomplete from comments above
definitions (source_definitions.py).
A function is no better than the functions of its face that it calls, and one of the runtime than those of the driver.

  coverage.py --write | --check  (the options say where the headers, sources and objects are)
"""
import argparse
import collections
import difflib
import pathlib
import re
import subprocess
import sys

import source_definitions

START = "<!-- The rest is written by coverage.py. -->\n"
DRIVER_GROUPS = {
    "CUDA_PRIMARY_CTX": "Primary contexts", "CUDA_CTX": "Contexts", "CUDA_CTX_DEPRECATED": "Contexts, deprecated",
    "CUDA_GREEN_CONTEXTS": "Green contexts", "CUDA_PEER_ACCESS": "Peer access", "CUDA_MEM": "Memory",
    "CUDA_VA": "Virtual memory", "CUDA_MALLOC_ASYNC": "Stream-ordered memory and pools",
    "CUDA_MULTICAST": "Multicast", "CUDA_UNIFIED": "Unified addressing", "CUDA_EXTRES_INTEROP": "External memory",
    "CUDA_STREAM": "Streams", "CUDA_EVENT": "Events", "CUDA_MEMOP": "Stream memory operations",
    "CUDA_GRAPH": "Graphs", "CUDA_DRIVER_ENTRY_POINT": "Entry points",
}
RUNTIME_GROUPS = {
    "CUDART_DEVICE": "Devices", "CUDART_ERROR": "Errors", "CUDART_PEER": "Peer access", "CUDART_MEMORY": "Memory",
    "CUDART_MEMORY_DEPRECATED": "Memory, deprecated",
    "CUDART_MEMORY_POOLS": "Stream-ordered memory and pools", "CUDART_UNIFIED": "Unified addressing",
    "CUDART_EXTRES_INTEROP": "External memory", "CUDART_STREAM": "Streams", "CUDART_EVENT": "Events",
    "CUDART_GRAPH": "Graphs", "CUDART_DRIVER_ENTRY_POINT": "Entry points",
}
RUNTIME_DECLARATION = r"^\s*extern .*?CUDARTAPI (\w+)\("
EXACT, PARTIAL, LOUD = "exact", "partial", "loud failure"


def groups_of(header, wanted, pattern):
    """The names that each wanted group of a header declares, in the header's order."""
    groups = collections.OrderedDict((group, []) for group in wanted)
    current = None
    for line in header.read_text().splitlines():
        if found := re.search(r"\\defgroup (\w+)", line):
            current = found[1]
        if current in groups and (found := re.search(pattern, line)):
            if found[1] not in groups[current]:
                groups[current].append(found[1])
    return groups


def strong_symbols(objects, pattern):
    text = subprocess.run(["nm", "-C", "--defined-only", *objects], check=True, capture_output=True, text=True).stdout
    return set(re.findall(pattern, text, re.M))


def face_of(sources, pattern):
    return source_definitions.Face({source.name: source.read_text() for source in sources}, pattern)


def missing(function, faults):
    """What a comment says and, each once, the functions that are no better: `faults`, with what is missing there."""
    comment = function.partial.rstrip(".")
    others = [f"as {name}" for name, why in sorted(faults.items()) if why != comment]
    return "; ".join(filter(None, [comment if comment not in others else "", ", ".join(others)]))


def driver_gap(name, face):
    """What is missing from a function of the driver's face, which may call others."""
    called = {use.removeprefix("face::") for use in face[name].uses if use.startswith("face::")}
    return missing(face[name], {"cu" + other: gap for other in called if (gap := driver_gap(other, face))})


def base_of(symbol):
    return re.sub(r"(_v\d+)?(_ptsz|_ptds)?$", "", symbol)


def driver_rows(options):
    entries = re.findall(r'ENTRY\("(\w+)", (\d+), 0, (\w+)\)', options.entries.read_text())
    written = {"cu" + name for name in strong_symbols(options.driver_objects, r" T cuheap::sim::face::(\w+)\(")}
    face = face_of(options.driver_sources, source_definitions.DRIVER_FUNCTION)
    by_base = collections.defaultdict(list)
    for base, version, symbol in entries:
        why = driver_gap(symbol.removeprefix("cu"), face)
        status = LOUD if symbol not in written else PARTIAL if why else EXACT
        by_base[base].append((symbol, int(version), status, why if symbol in written else ""))
    return by_base


def driver_tables(options, by_base):
    tables = collections.OrderedDict()
    groups = groups_of(options.cuda, DRIVER_GROUPS, r"^(?:\w+ )*CUresult CUDAAPI (\w+)\(")
    # What a group declares under the name of one ABI has its older ones beside it.
    for group, names in groups.items():
        rows = []
        for base in dict.fromkeys(base_of(name) for name in names):
            rows += sorted(by_base[base], key=lambda row: -row[1])
        tables[DRIVER_GROUPS[group]] = [(f"{s} [{v}]", status, why) for s, v, status, why in rows]
    return tables


def runtime_faults(name, face, by_base):
    """What a function of the runtime calls that is not exact: its face's others, and newest ABIs of the driver."""
    uses = source_definitions.with_helpers(face[name].uses, {other: face[other].uses for other in face.functions})
    newest = [max(by_base[base], key=lambda row: row[1]) for base in {base_of(use) for use in uses} if base in by_base]
    faults = {symbol: why for symbol, _, status, why in newest if status != EXACT}
    return faults | {use: face[use].partial.rstrip(".") for use in uses - {name} if face[use].partial}


def runtime_tables(options, by_base):
    written = strong_symbols(options.runtime_objects, r" T (cuda\w+)$")
    face = face_of(options.runtime_sources, source_definitions.RUNTIME_FUNCTION)
    tables = collections.OrderedDict()
    groups = groups_of(options.runtime, RUNTIME_GROUPS, RUNTIME_DECLARATION)
    for group, names in groups.items():
        rows = []
        for name in names:
            why = missing(face[name], runtime_faults(name, face, by_base))
            rows.append((name, LOUD, "") if name not in written else (name, PARTIAL if why else EXACT, why))
        tables[RUNTIME_GROUPS[group]] = rows
    return tables


def summary(tables):
    lines = ["| group | exact | partial | loud failure |", "|---|---|---|---|"]
    total = collections.Counter()
    for title, rows in tables.items():
        count = collections.Counter(status for _, status, _ in rows)
        total += count
        lines.append(f"| {title} | {count[EXACT]} | {count[PARTIAL]} | {count[LOUD]} |")
    lines.append(f"| all | {total[EXACT]} | {total[PARTIAL]} | {total[LOUD]} |")
    return lines


def details(tables):
    lines = []
    for title, rows in tables.items():
        lines += [f"### {title}", "", "| function | | what is missing |", "|---|---|---|"]
        lines += [f"| {name} | {status} | {why} |" for name, status, why in rows]
        lines.append("")
    return lines


def render(options):
    by_base = driver_rows(options)
    lines = []
    for face, note, tables in (
            ("The driver, libcuda.so.1", "A number is the version of CUDA with which that ABI came.",
             driver_tables(options, by_base)),
            ("The runtime, libcudart.so.13", "The twins for per-thread default streams are as their functions are.",
             runtime_tables(options, by_base))):
        lines += [f"## {face}", "", note, "", *summary(tables), "", *details(tables)]
    return "\n".join(lines).rstrip() + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    path = pathlib.Path
    for name in ("cuda", "runtime", "entries", "document"):
        parser.add_argument(f"--{name}", type=path, required=True)
    for name in ("driver-sources", "runtime-sources"):
        parser.add_argument(f"--{name}", type=path, nargs="+", required=True)
    for name in ("driver-objects", "runtime-objects"):
        parser.add_argument(f"--{name}", nargs="+", required=True)
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--write", action="store_true")
    what.add_argument("--check", action="store_true")
    options = parser.parse_args()

    have = options.document.read_text()
    want = have[:have.index(START) + len(START)] + "\n" + render(options)
    if options.write:
        options.document.write_text(want)
    elif have != want:
        sys.stdout.writelines(difflib.unified_diff(have.splitlines(True), want.splitlines(True), "document", "sources", n=0))
        sys.exit(f"{options.document.name} is not what the sources say; run: ./dev build release simulated_device_tables")


if __name__ == "__main__":
    main()
