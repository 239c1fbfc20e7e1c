#!/usr/bin/env python3
"""Checks every #include of the project against cmake/floors.txt: a header can be included without being linked.

--list: prints the C and C++ sources instead."""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDERS = ("allocator", "hooks", "tools", "tests", "bench", "examples")
SUFFIXES = (".h", ".hpp", ".cc", ".c", ".cu", ".def")
INCLUDE = re.compile(r'^\s*#\s*include\s+["<]([^">]+)[">]', re.M)
# CUDA's headers belong where the driver is spoken to; everything else is told about memory in plain numbers.
CUDA = re.compile(r"^(cuda|nvml|nvtx3|cublas|cudnn|nccl|crt/)")
CUDA_ALLOWED = ("allocator/driver/", "hooks/preload/", "tests/", "bench/", "examples/")


def floors():
    table = {}
    for line in (ROOT / "cmake/floors.txt").read_text().splitlines():
        if line and not line.startswith("#"):
            component, allowed = line.split(":")
            table[component] = allowed.split()
    return table


def inside(path, prefix):
    return path == prefix or path.startswith(prefix + "/")


def component_of(path, table):
    """The longest component that holds the file: tests/sim/x.cc belongs to tests/sim, not to tests."""
    return max((c for c in table if inside(path, c)), key=len, default=None)


def sources():
    return sorted(str(path.relative_to(ROOT)) for folder in FOLDERS for path in (ROOT / folder).rglob("*")
                  if path.suffix in SUFFIXES)


def main():
    table = floors()
    files = sources()
    if "--list" in sys.argv:
        print("\n".join(name for name in files if not name.endswith(".def")))
        return 0
    complaints = []
    for name in files:
        component = component_of(name, table)
        if component is None:
            complaints.append(f"{name}: belongs to no component of cmake/floors.txt")
            continue
        for target in INCLUDE.findall((ROOT / name).read_text(errors="replace")):
            if CUDA.match(target) and not name.startswith(CUDA_ALLOWED):
                complaints.append(f"{name}: includes {target}; CUDA headers are for {', '.join(CUDA_ALLOWED)}")
            path = "allocator/include/" + target if target.startswith("cuheap/") else target
            used = component_of(path, table)
            if used is None or not (ROOT / path).exists() or used == component or inside(path, component):
                continue
            if not any(inside(path, prefix) for prefix in table[component]):
                complaints.append(f"{name}: may not include {target} (floor {component} uses {table[component] or 'nothing'})")
    print("\n".join(complaints) or f"{len(files)} files include downward only")
    return 1 if complaints else 0


sys.exit(main())
