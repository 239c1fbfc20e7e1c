#!/usr/bin/env python3
"""Refreshes symbols/*.txt: what PyTorch's CUDA wheel wants of each NVIDIA library that has a stand-in here.

Usage: refresh_symbols.py .venv/lib/python3.11/site-packages/torch/lib

A versioned reference says which library it wants: NVIDIA names the version after the SONAME (NVSHMEM after itself). For an
unversioned one the prefix of the name decides, among the libraries in the referrer's NEEDED list.
"""
import pathlib
import re
import subprocess
import sys

LIBRARIES = {  # file of symbols: (symbol version, or None), prefix of unversioned names, SONAME
    "cublas": ("libcublas.so.13", None, "libcublas.so.13"),
    "cublasLt": ("libcublasLt.so.13", None, "libcublasLt.so.13"),
    "cudnn": ("libcudnn.so.9", None, "libcudnn.so.9"),
    "cufft": ("libcufft.so.12", None, "libcufft.so.12"),
    "cusparse": ("libcusparse.so.12", None, "libcusparse.so.12"),
    "cusolver": ("libcusolver.so.12", None, "libcusolver.so.12"),
    "nvrtc": ("libnvrtc.so.13", None, "libnvrtc.so.13"),
    "cupti": ("libcupti.so.13", None, "libcupti.so.13"),
    "nvshmem": ("NVSHMEM", "nvshmem", "libnvshmem_host.so.3"),
    "cusparseLt": (None, "cusparseLt", "libcusparseLt.so.0"),
    "nccl": (None, "nccl", "libnccl.so.2"),
    "cufile": (None, "cuFile", "libcufile.so.0"),
}


def run(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def undefined_names(library):
    for line in run("nm", "-D", "--undefined-only", str(library)).splitlines():
        name, _, version = line.split()[-1].partition("@")
        yield name, version.lstrip("@")


def wanted_symbols(folder):
    wanted = {key: set() for key in LIBRARIES}
    for library in sorted(folder.glob("*.so*")):
        needed = set(re.findall(r"\(NEEDED\).*\[(.*)\]", run("readelf", "-d", str(library))))
        for name, version in undefined_names(library):
            for key, (node, prefix, soname) in LIBRARIES.items():
                by_version = version and version == node
                by_prefix = not version and prefix and soname in needed and re.match(prefix + r"[A-Z_]", name)
                if by_version or by_prefix:
                    wanted[key].add(name)
    return wanted


def main():
    target = pathlib.Path(__file__).parent / "symbols"
    for key, names in wanted_symbols(pathlib.Path(sys.argv[1])).items():
        (target / f"{key}.txt").write_text("".join(f"{name}\n" for name in sorted(names)), encoding="utf-8")
        print(f"{key:12}{len(names):5}")


main()
