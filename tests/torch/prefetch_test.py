"""The example that prefetches batches: a transformer trained with record_stream used right, and forgotten."""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

EXAMPLE = pathlib.Path(__file__).resolve().parents[2] / "examples/prefetch_train.py"


def races_of(*arguments):
    """What the simulated device reports of a run that trains to its end."""
    with tempfile.TemporaryDirectory() as folder:
        reports = pathlib.Path(folder) / "races"
        subprocess.run([sys.executable, EXAMPLE, *arguments], check=True, capture_output=True, env=dict(os.environ, CUHEAP_SIM_RACES=str(reports)))
        return reports.read_text() if reports.exists() else ""


def line_of(text):
    lines = EXAMPLE.read_text().splitlines()
    return next(number for number, line in enumerate(lines, 1) if text in line)


class PrefetchTest(unittest.TestCase):
    def test_a_batch_whose_reader_is_recorded_is_no_race(self):
        self.assertEqual(races_of(), "")

    def test_a_batch_whose_reader_is_forgotten_is_a_race_of_two_copies(self):
        text = races_of("--forget")
        self.assertRegex(text, r"a copy reads it in stream \d+")
        self.assertRegex(text, r"a copy writes it in stream \d+")
        for place in ("batch.clone()", "self.host.to("):
            self.assertIn(f'prefetch_train.py", line {line_of(place)} in', text)


unittest.main()
