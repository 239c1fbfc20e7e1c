#!/usr/bin/env python3
"""Writes the tables of docs/simulated-device.md: what the simulated device can do, function by function.

The names and their groups come from cuda.h and cuda_runtime_api.h, what is written from the compiled objects (a function
that nobody wrote exists in a weak form only), and what is incomplete from comments `// PARTIAL: ...` above definitions.
A function of the runtime is no better than the functions of the driver that it calls.

  coverage.py --write | --check  (the options say where the headers, sources and objects are)
"""
import argparse
import collections
import difflib
import pathlib
import re
import subprocess
import sys

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
    "CUDART_MEMORY_POOLS": "Stream-ordered memory and pools", "CUDART_UNIFIED": "Unified addressing",
    "CUDART_EXTRES_INTEROP": "External memory", "CUDART_STREAM": "Streams", "CUDART_EVENT": "Events",
    "CUDART_GRAPH": "Graphs", "CUDART_DRIVER_ENTRY_POINT": "Entry points",
}
EXACT, PARTIAL, LOUD = "exact", "partial", "loud failure"
PARTIAL_COMMENT = re.compile(r"// PARTIAL: (.*(?:\n *// .*)*)\n(?:.*\n){0,2}?.*?\b(?:face::(\w+)|(cuda\w+))")


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


def partial_comments(sources):
    partial = {}
    for source in sources:
        for text, driver, runtime in PARTIAL_COMMENT.findall(source.read_text()):
            name = "cu" + driver if driver else runtime
            partial[name] = re.sub(r"\n *// ", " ", text).strip()
    return partial


def calls_of(sources):
    """The driver's functions that each function of the runtime names in its definition."""
    calls = collections.defaultdict(set)
    for source in sources:
        parts = re.split(r"^(?=extern \"C\"|CUHEAP_\w+\()", source.read_text(), flags=re.M)
        for part in parts:
            name = re.search(r"\bcuda[A-Z]\w+", part.replace("cudaError_t", ""))
            if name and re.match(r"extern \"C\"|CUHEAP_\w+\(", part):
                calls[name[0]].update(re.findall(r"\bcu[A-Z]\w+", part))
    return calls


def base_of(symbol):
    return re.sub(r"(_v\d+)?(_ptsz|_ptds)?$", "", symbol)


def driver_rows(options):
    entries = re.findall(r'ENTRY\("(\w+)", (\d+), 0, (\w+)\)', options.entries.read_text())
    written = {"cu" + name for name in strong_symbols(options.driver_objects, r" T cuheap::sim::face::(\w+)\(")}
    partial = partial_comments(options.driver_sources)
    by_base = collections.defaultdict(list)
    for base, version, symbol in entries:
        status = LOUD if symbol not in written else PARTIAL if symbol in partial else EXACT
        by_base[base].append((symbol, int(version), status, partial.get(symbol, "")))
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


def worst_of_driver(names, by_base):
    """What keeps a function of the runtime from being exact: the newest ABIs of what it calls."""
    faults = []
    for base in sorted({base_of(name) for name in names}):
        if base in by_base:
            newest = max(by_base[base], key=lambda row: row[1])
            if newest[2] != EXACT:
                faults.append(f"as {newest[0]}")
    return ", ".join(faults)


def runtime_tables(options, by_base):
    written = strong_symbols(options.runtime_objects, r" T (cuda\w+)$")
    partial = partial_comments(options.runtime_sources)
    calls = calls_of(options.runtime_sources)
    tables = collections.OrderedDict()
    groups = groups_of(options.runtime, RUNTIME_GROUPS, r"^extern .*?CUDARTAPI (\w+)\(")
    for group, names in groups.items():
        rows = []
        for name in names:
            why = "; ".join(filter(None, [partial.get(name), worst_of_driver(calls[name], by_base)]))
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


main()
