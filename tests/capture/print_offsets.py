#!/usr/bin/env python3
"""Compares allocator/capture/python_layouts.def with the headers of every interpreter of the machine that has them:
print_offsets.c is compiled against each and says what its structures look like."""
import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import python_interpreters

HERE = pathlib.Path(__file__).resolve().parent
ROW = re.compile(r"^PYTHON_FIELD\((\w+),\s*(.*?)\)", re.M)
ABSENT = 0xffff


def table(path):
    """{field: {minor version: offset}}"""
    rows = {}
    for field, columns in ROW.findall(path.read_text()):
        numbers = [ABSENT if c.strip() == "PYTHON_ABSENT" else int(c) for c in columns.split(",")]
        rows[field] = dict(zip(range(python_interpreters.FIRST[1], python_interpreters.LAST[1] + 1), numbers))
    return rows


def offsets(compiler, include):
    """{field: offset} of the headers in `include`."""
    with tempfile.TemporaryDirectory() as folder:
        program = os.path.join(folder, "print_offsets")
        subprocess.run([compiler, "-w", "-I" + include, "-I" + os.path.join(include, "internal"), str(HERE / "print_offsets.c"),
                        "-o", program], check=True)
        lines = subprocess.run([program], check=True, capture_output=True, text=True).stdout.splitlines()
    return {name: int(value) for name, value in (line.split() for line in lines if not line.startswith("version"))}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--compiler", default="cc")
    parser.add_argument("--layouts", type=pathlib.Path, default=HERE.parent.parent / "allocator/capture/python_layouts.def")
    arguments = parser.parse_args()
    rows, wrong, compared = table(arguments.layouts), 0, []
    for about in python_interpreters.find():
        minor = about["version"][1]
        if not os.path.exists(os.path.join(about["include"], "internal", "pycore_frame.h" if minor >= 11 else "pycore_code.h")):
            if not os.path.exists(os.path.join(about["include"], "Python.h")):
                print("no headers: %s" % python_interpreters.label(about))
                continue
        for field, offset in offsets(arguments.compiler, about["include"]).items():
            if rows[field][minor] != offset:
                print("%s: %s is %d in the headers, %d in the table" % (python_interpreters.label(about), field, offset,
                                                                         rows[field][minor]))
                wrong += 1
        compared.append(about)
    print("compared: %s" % ", ".join(python_interpreters.label(about) for about in compared))
    python_interpreters.say_missing(compared)
    return 1 if wrong or not compared else 0


sys.exit(main())
