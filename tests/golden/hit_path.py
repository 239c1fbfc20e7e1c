#!/usr/bin/env python3
"""Instructions of a pair on each hot path, counted by callgrind, against hit_path.txt.

A pair costs what N more of them cost, so that start and end of the process do not count.
"""
import argparse
import pathlib
import re
import subprocess
import sys

PAIRS = 10_000
TOLERANCE = 0.5  # what is done once in many pairs


def instructions(program, path, pairs):
    command = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", program, path, str(pairs)]
    run = subprocess.run(command, stderr=subprocess.PIPE, text=True)
    found = re.search(r"Collected : (\d+)", run.stderr)
    if run.returncode != 0 or not found:
        sys.exit(f"{' '.join(command)}\n{run.stderr}")
    return int(found[1])


def count(program, path):
    return (instructions(program, path, 2 * PAIRS) - instructions(program, path, PAIRS)) / PAIRS


def golden(file):
    lines = (line.split() for line in file.read_text().splitlines() if line and not line.startswith("#"))
    return {name: int(number) for name, number in lines}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program")
    parser.add_argument("golden", type=pathlib.Path)
    arguments = parser.parse_args()
    differ = False
    for path, expected in golden(arguments.golden).items():
        counted = count(arguments.program, path)
        wrong = abs(counted - expected) > TOLERANCE
        differ |= wrong
        print(f"{path} {counted:.2f} instructions a pair, {expected} in {arguments.golden.name}{': DIFFERS' if wrong else ''}")
    return 1 if differ else 0


sys.exit(main())
