"""A tensor used on a side stream: with record_stream nothing is reported, without it the two copies are."""

import ctypes

import torch

from simulated import DEVICE, SimulatedTest, main

ELEMENTS = 1 << 20
TURNS = 20


def machine():
    library = ctypes.CDLL("libcuheap_sim.so")
    library.cuheap_sim_races.restype = ctypes.c_uint64
    return library


def last_race():
    text = ctypes.create_string_buffer(1 << 16)
    machine().cuheap_sim_last_race(text, ctypes.c_size_t(len(text)))
    return text.value.decode()


def copy_on_a_side_stream(record):
    side = torch.cuda.Stream()
    source = torch.zeros(ELEMENTS).pin_memory()
    for _ in range(TURNS):
        first = torch.empty(ELEMENTS, device=DEVICE)
        first.copy_(source, non_blocking=True)
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            second = torch.empty(ELEMENTS, device=DEVICE)
            second.copy_(first, non_blocking=True)
        if record:
            first.record_stream(side)
        del first, second


class RaceTest(SimulatedTest):
    def setUp(self):
        machine().cuheap_sim_forget_races()

    def test_a_recorded_stream_is_no_race(self):
        copy_on_a_side_stream(record=True)
        self.assertEqual(machine().cuheap_sim_races(), 0, last_race())

    def test_a_forgotten_record_is_reported_with_both_lines(self):
        copy_on_a_side_stream(record=False)
        self.assertEqual(machine().cuheap_sim_races(), 1)
        text = last_race()
        self.assertRegex(text, r"first: a copy reads it in stream \d+")
        self.assertRegex(text, r"second: a copy writes it in stream \d+")
        code = copy_on_a_side_stream.__code__.co_firstlineno
        for line in (code + 9, code + 5):
            self.assertIn("race_test.py\", line %d in copy_on_a_side_stream" % line, text)


main()
