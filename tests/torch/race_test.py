"""A tensor used on a side stream: with record_stream nothing is reported, without it the two copies are. What the libraries
compute on one stream must wait for what another one brings."""

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


def host_data(*shape):
    return torch.zeros(*shape).pin_memory()


def product_of_what_comes(wait):
    matrix = torch.empty(64, 64, device=DEVICE)
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        matrix.copy_(host_data(64, 64), non_blocking=True)
    if wait:
        torch.cuda.current_stream().wait_stream(side)
    return torch.mm(matrix, matrix)


def convolution_of_what_comes(wait):
    images = torch.empty(2, 3, 16, 16, device=DEVICE)
    weights = torch.empty(4, 3, 3, 3, device=DEVICE)
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        images.copy_(host_data(2, 3, 16, 16), non_blocking=True)
    if wait:
        torch.cuda.current_stream().wait_stream(side)
    return torch.nn.functional.conv2d(images, weights)


def result_taken_too_early(wait):
    matrix = torch.empty(64, 64, device=DEVICE)
    result = torch.mm(matrix, matrix)
    side = torch.cuda.Stream()
    if wait:
        side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        taken = host_data(64, 64)
        taken.copy_(result, non_blocking=True)
    side.synchronize()
    return result


class LibraryRaceTest(SimulatedTest):
    CASES = ((product_of_what_comes, "a copy writes it", r"cublas\w+ reads it"),
             (convolution_of_what_comes, "a copy writes it", r"cudnn\w+ reads it"),
             (result_taken_too_early, r"cublas\w+ writes it", "a copy reads it"))

    def test_work_without_a_wait_is_reported(self):
        for scenario, first, second in self.CASES:
            with self.subTest(scenario=scenario.__name__):
                torch.cuda.synchronize()
                machine().cuheap_sim_forget_races()
                kept = scenario(wait=False)
                torch.cuda.synchronize()
                self.assertEqual(machine().cuheap_sim_races(), 1, last_race())
                self.assertRegex(last_race(), "first: (a )?" + first)
                self.assertRegex(last_race(), "second: (a )?" + second)
                self.assertIn("in " + scenario.__name__, last_race())
                del kept

    def test_work_that_waits_is_no_race(self):
        for scenario, _, _ in self.CASES:
            with self.subTest(scenario=scenario.__name__):
                torch.cuda.synchronize()
                machine().cuheap_sim_forget_races()
                kept = scenario(wait=True)
                torch.cuda.synchronize()
                self.assertEqual(machine().cuheap_sim_races(), 0, last_race())
                del kept


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
