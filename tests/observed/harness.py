"""Runs jobs on the simulated device under `cuheap run` and reads their reports."""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

BUILD = pathlib.Path(os.environ["CUHEAP_BUILD"])
ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
CUHEAP = BUILD / "bin/cuheap"


def environment(**extra):
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("CUHEAP_", "PYTORCH_"))}
    kept["LD_LIBRARY_PATH"] = str(BUILD / "lib/sim")
    kept["CUHEAP_BUILD"] = str(BUILD)
    kept.update({name: str(value) for name, value in extra.items()})
    return kept


class Job(unittest.TestCase):
    """A test with a folder of its own and the verbs of the program."""

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="cuheap-observed-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def start(self, *command, out="a.cuheap", flags=(), **extra):
        """`cuheap run` of a command; a .py file is run by this interpreter. Returns the Popen object."""
        if str(command[0]).endswith(".py"):
            command = (sys.executable, *command)
        return subprocess.Popen([str(CUHEAP), "run", "-o", str(self.folder / out), *flags, "--", *map(str, command)],
                                env=environment(**extra), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def run_job(self, *command, status=0, **arguments):
        job = self.start(*command, **arguments)
        output, errors = job.communicate(timeout=600)
        self.assertEqual(job.returncode, status, output + errors)
        return output, errors

    def cuheap(self, *arguments, status=0):
        done = subprocess.run([str(CUHEAP), *map(str, arguments)], capture_output=True, text=True, timeout=120)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done.stdout

    def report(self, *flags, out="a.cuheap"):
        return json.loads(self.cuheap("report", "--json", *flags, self.folder / out))

    def text(self, *flags, out="a.cuheap"):
        return self.cuheap("report", *flags, self.folder / out)


def place(frame):
    return f"{pathlib.Path(frame['file'] or '').name}:{frame['line']}"


def line_of(script, text):
    """The number of the one line of a script that contains the text."""
    lines = [number for number, line in enumerate(script.read_text().splitlines(), 1) if text in line]
    assert len(lines) == 1, (script, text, lines)
    return lines[0]
