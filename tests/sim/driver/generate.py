#!/usr/bin/env python3
"""Writes the driver's face from the public headers.

From cuda.h (preprocessed with all ABIs visible): every function with its parameters.
From cudaTypedefs.h: which version each ABI of a function belongs to.

Output, in the folder given:
  face.h             declarations cuheap::sim::face::Xxx, one for each entry cuXxx
  entries.cc         the exported functions: through the gate, then face::Xxx
  missing.cc         a weak face::Xxx for each entry, which says that nobody wrote it
  entry_table.inc    ENTRY(name, version, per_thread, symbol), sorted
  function_names.inc FUNCTION(Xxx) for each base name cuXxx, sorted
  error_names.inc    ERROR(name, value)
"""

import argparse
import collections
import pathlib
import re
import sys

# Entries that the typedef header does not carry: the version they came with.
UNLISTED = {
    "cuCoredumpGetAttribute": 12010, "cuCoredumpGetAttributeGlobal": 12010,
    "cuCoredumpSetAttribute": 12010, "cuCoredumpSetAttributeGlobal": 12010,
    "cuDeviceRegisterAsyncNotification": 12040, "cuDeviceUnregisterAsyncNotification": 12040,
    "cuCtxFromGreenCtx": 12040, "cuCtxGetDevResource": 12040, "cuCtxRecordEvent": 12040,
    "cuCtxWaitEvent": 12040, "cuDevResourceGenerateDesc": 12040,
    "cuDevSmResourceSplitByCount": 12040, "cuDeviceGetDevResource": 12040,
    "cuGreenCtxCreate": 12040, "cuGreenCtxDestroy": 12040, "cuGreenCtxGetDevResource": 12040,
    "cuGreenCtxGetId": 12090, "cuGreenCtxRecordEvent": 12040, "cuGreenCtxWaitEvent": 12040,
    "cuStreamGetGreenCtx": 12040,
}
# What may be called before cuInit.
ALWAYS = {"cuInit", "cuDriverGetVersion", "cuGetErrorName", "cuGetErrorString", "cuGetProcAddress",
          "cuGetProcAddress_v2", "cuGetExportTable"}
SUFFIX = re.compile(r"(cu\w+?)(?:_v(\d+))?(_ptsz|_ptds)?$")
NOTE = "// Written by generate.py from the CUDA headers.\n"


def split_name(symbol):
    base, abi, stream = SUFFIX.match(symbol).groups()
    return base, int(abi or 1), stream or ""


def parse_functions(text):
    found = re.findall(r"\bCUresult\s+(cu\w+)\s*\(([^;{]*?)\)\s*;", text, re.S)
    functions = {}
    for name, parameters in found:
        names, types = [], []
        for part in re.sub(r"\s+", " ", parameters).split(","):
            part = part.strip()
            if part in ("", "void"):
                continue
            match = re.match(r"(.*?)(\w+)$", part)
            types.append(match[1].strip())
            names.append(match[2])
        functions[name] = (types, names)
    return functions


def versions_of(typedefs):
    versions = collections.defaultdict(set)
    pattern = r"\*PFN_(cu\w+?)_v(\d+)(_ptsz|_ptds)?\)"
    for name, version, stream in re.findall(pattern, typedefs):
        versions[name, stream].add(int(version))
    for name, version in UNLISTED.items():
        versions.setdefault((name, ""), {version})
    return versions


def entry_table(functions, versions):
    """Pairs each ABI of a function with its version: both in rising order."""
    symbols = collections.defaultdict(list)
    for symbol in functions:
        base, abi, stream = split_name(symbol)
        symbols[base, stream].append((abi, symbol))
    rows = []
    for key, abis in symbols.items():
        known = sorted(versions.get(key, []))
        if len(known) != len(abis):
            sys.exit(f"generate.py: {key}: versions {known} for {sorted(abis)}; extend UNLISTED")
        for version, (_, symbol) in zip(known, sorted(abis)):
            rows.append((key[0], version, int(key[1] != ""), symbol))
    return sorted(rows)


def parameter_list(types, names):
    return ", ".join(f"{t} {n}" for t, n in zip(types, names))


def write_face(functions, out):
    lines = [NOTE, "#pragma once\n", "#include <cuda.h>\n", "namespace cuheap::sim::face {\n"]
    for name, (types, names) in sorted(functions.items()):
        if not split_name(name)[2]:
            lines.append(f"CUresult {name[2:]}({parameter_list(types, names)});")
    lines.append("\n}  // namespace cuheap::sim::face\n")
    out.write_text("\n".join(lines))


def write_entries(functions, out):
    lines = [NOTE, '#include "face.h"\n#include "tests/sim/driver/entry.h"\n',
             "using cuheap::sim::DriverFunction;", "using cuheap::sim::Enter;",
             "using cuheap::sim::PerThreadDefault;",
             "namespace face = cuheap::sim::face;\n"]
    for name, (types, names) in sorted(functions.items()):
        base = re.sub(r"_(ptsz|ptds)$", "", name)
        arguments = ", ".join(names)
        scope = "  const PerThreadDefault scope;\n" if base != name else ""
        always = "false" if base in ALWAYS else "true"
        rest = f", {arguments}" if names else ""
        lines.append(f'extern "C" __attribute__((visibility("default"))) CUresult {name}('
                     f"{parameter_list(types, names)}) {{\n{scope}"
                     f"  return Enter<DriverFunction::{split_name(name)[0][2:]}, {always}>("
                     f'"{name}", face::{base[2:]}{rest});\n}}')
    out.write_text("\n".join(lines) + "\n")


def write_missing(functions, out):
    lines = [NOTE, '#include "face.h"\n#include "tests/sim/engine/call_gate.h"\n',
             "namespace cuheap::sim::face {\n"]
    for name, (types, _) in sorted(functions.items()):
        if not split_name(name)[2]:
            lines.append(f"__attribute__((weak)) CUresult {name[2:]}({', '.join(types)}) "
                         f'{{ return NotSimulated("{name}"); }}')
    lines.append("\n}  // namespace cuheap::sim::face\n")
    out.write_text("\n".join(lines))


def write_function_names(functions, out):
    names = sorted({split_name(symbol)[0] for symbol in functions})
    out.write_text(NOTE + "".join(f"FUNCTION({name[2:]})\n" for name in names))


def write_errors(text, out):
    body = re.search(r"typedef enum cudaError_enum \{(.*?)\}", text, re.S)[1]
    rows = re.findall(r"(CUDA_\w+)\s*=\s*(\d+)", body)
    out.write_text(NOTE + "".join(f"ERROR({name}, {value})\n" for name, value in rows))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("preprocessed", type=pathlib.Path)
    parser.add_argument("typedefs", type=pathlib.Path)
    parser.add_argument("out", type=pathlib.Path)
    arguments = parser.parse_args()
    text = arguments.preprocessed.read_text()
    functions = parse_functions(text)
    rows = entry_table(functions, versions_of(arguments.typedefs.read_text()))
    arguments.out.mkdir(parents=True, exist_ok=True)
    write_face(functions, arguments.out / "face.h")
    write_entries(functions, arguments.out / "entries.cc")
    write_missing(functions, arguments.out / "missing.cc")
    (arguments.out / "entry_table.inc").write_text(
        NOTE + "".join(f'ENTRY("{n}", {v}, {p}, {s})\n' for n, v, p, s in rows))
    write_function_names(functions, arguments.out / "function_names.inc")
    write_errors(text, arguments.out / "error_names.inc")


main()
