#!/usr/bin/env python3
"""Runs python_frames.py under every interpreter of the machine and says which versions were tested."""
import argparse
import os
import pathlib
import subprocess
import sys

import python_interpreters

HERE = pathlib.Path(__file__).resolve().parent


def environment(arguments):
    env = dict(os.environ, CUHEAP_PROBE=os.path.abspath(arguments.probe), PYTHONDONTWRITEBYTECODE="1")
    env.pop("PYTHONPATH", None)
    if "address" in arguments.sanitize:
        runtime = subprocess.run([arguments.compiler, "-print-file-name=libasan.so"], check=True, capture_output=True,
                                 text=True).stdout.strip()
        # CPython keeps memory to the end; its own leaks are not ours to judge. The order of libraries is as it must be.
        env.update(LD_PRELOAD=runtime, ASAN_OPTIONS="detect_leaks=0:" + env.get("ASAN_OPTIONS", ""))
    return env


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--probe", required=True)
    parser.add_argument("--compiler", default="c++")
    parser.add_argument("--sanitize", default="")
    parser.add_argument("--only", help="one version, as 3.12")
    arguments = parser.parse_args()
    interpreters = python_interpreters.find()
    failed = []
    for about in interpreters:
        if arguments.only and arguments.only != "%d.%d" % tuple(about["version"][:2]):
            continue
        print("== %s" % python_interpreters.label(about), flush=True)
        ran = subprocess.run([about["executable"], str(HERE / "python_frames.py")], env=environment(arguments))
        if ran.returncode != 0:
            failed.append(python_interpreters.label(about))
    print("tested: %s" % ", ".join(python_interpreters.label(about) for about in interpreters))
    python_interpreters.say_missing(interpreters)
    if failed:
        print("FAILED: %s" % ", ".join(failed))
    return 1 if failed or not interpreters else 0


sys.exit(main())
