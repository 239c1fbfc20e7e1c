"""What an interpreter says of its frames against what capture read raw, without the GIL. Runs under any Python from 3.9
on; run_python_versions.py starts it under each one of the machine. CUHEAP_PROBE names the library."""
import asyncio
import ctypes
import dis
import functools
import gc
import os
import subprocess
import sys
import threading
import time
import unittest

QUALIFIED = sys.version_info >= (3, 11)
NO_PYTHON, UNCHECKED, CHECKED, DIFFER, UNSUPPORTED, OFF = range(6)
MOST = 64


class Frame(ctypes.Structure):
    _fields_ = [("code", ctypes.c_uint64), ("fingerprint", ctypes.c_uint64), ("instruction", ctypes.c_uint32),
                ("first_line", ctypes.c_int32), ("linetable_size", ctypes.c_uint32), ("linetable", ctypes.c_uint8 * 4096),
                ("file", ctypes.c_char * 512), ("function", ctypes.c_char * 512)]


probe = ctypes.CDLL(os.environ["CUHEAP_PROBE"])
probe.probe_walk_ns.restype = ctypes.c_double
probe.probe_attach()


def seen(code):
    return (code.co_filename, code.co_qualname if QUALIFIED else code.co_name, code.co_firstlineno)


def line_at(code, instruction):
    if sys.version_info >= (3, 10):
        return next((line for begin, end, line in code.co_lines() if begin <= instruction < end), None)
    return max((begin, line) for begin, line in dis.findlinestarts(code) if begin <= instruction)[1]


def expected_frames(frame):
    frames = []
    while frame is not None:
        frames.append(frame)
        frame = frame.f_back
    return frames


def walk():
    """The frames that capture saw, after comparing them with the interpreter's."""
    buffer, cut = (Frame * MOST)(), ctypes.c_int()
    count = probe.probe_walk(buffer, ctypes.byref(cut))
    expected = expected_frames(sys._getframe())
    assert cut.value == (len(expected) > MOST), (cut.value, len(expected))
    assert count == min(len(expected), MOST), (count, [seen(f.f_code) for f in expected])
    for i in range(count):
        got, code = buffer[i], expected[i].f_code
        assert got.code == id(code), (i, got.function, code)
        file, function = got.file.decode("utf-8", "replace"), got.function.decode("utf-8", "replace")
        assert (file, function, got.first_line) == seen(code), ((file, function, got.first_line), seen(code))
        table = code.co_linetable if sys.version_info >= (3, 10) else code.co_lnotab
        assert got.linetable_size == len(table), (got.linetable_size, len(table))
        assert bytes(got.linetable[:len(table)]) == table[:4096]
        if i > 0:  # this frame has moved on since
            assert got.instruction == expected[i].f_lasti, (function, got.instruction, expected[i].f_lasti)
            assert line_at(code, got.instruction) == expected[i].f_lineno, function
        else:
            assert line_at(code, got.instruction) == code.co_firstlineno + 3
    return [(f.function.decode("utf-8", "replace"), f.fingerprint, f.code) for f in buffer[:count]]


def names():
    return [name.rpartition(".")[2] for name, _, _ in walk()][2:]


class Frames(unittest.TestCase):
    def test_nested_functions_methods_and_lambdas(self):
        class Thing:
            def method(self):
                return (lambda: names())()

            @classmethod
            def of_class(cls):
                return cls().method()

            @staticmethod
            def alone():
                return Thing.of_class()

            @property
            def value(self):
                return Thing.alone()

            def __getitem__(self, key):
                return self.value

        self.assertEqual(names.__name__, "names")
        self.assertEqual(Thing()[0][:6], ["<lambda>", "method", "of_class", "alone", "value", "__getitem__"])

    def test_generators_and_comprehensions(self):
        def numbers():
            yield names()
            yield names()

        def delegate():
            yield from numbers()

        self.assertEqual([n[0] for n in numbers()], ["numbers", "numbers"])
        self.assertEqual(next(delegate())[:2], ["numbers", "delegate"])
        self.assertTrue([names() for _ in range(1)])
        self.assertTrue({k: names() for k in range(1)})
        self.assertEqual(list(names() for _ in range(1))[0][0], "<genexpr>")

    def test_class_bodies(self):
        class Body:
            inside = names()

        self.assertEqual(Body.inside[0], "Body")

    def test_recursion_deeper_than_what_is_kept(self):
        def down(depth):
            return walk() if depth == 0 else down(depth - 1)

        for depth in (10, 40, 60, 63, 64, 65, 300):
            self.assertEqual(len(down(depth)) == MOST, depth + 20 > MOST or len(down(depth)) == MOST)

    def test_names_that_are_not_ascii(self):
        for name in ("café", "αβγ", "変数", "𝔘𝔫𝔦", "x" * 400):
            space = {"walk": walk}
            exec(compile("def %s():\n    return walk()\n" % name, "/data/%s.py" % name, "exec"), space)
            function = [v for k, v in space.items() if callable(v) and k not in ("walk", "__builtins__")][0]
            self.assertEqual(function()[1][0], function.__qualname__)

    def test_exec_eval_and_import_time_code(self):
        out = []
        exec("x = 1\nout.append(walk())\n", {"walk": walk, "out": out})
        self.assertEqual(out[0][1][0], "<module>")
        self.assertEqual(eval("walk()", {"walk": walk})[1][0], "<module>")
        import importlib.abc
        import importlib.util

        class Loader(importlib.abc.Loader):
            def exec_module(self, module):
                exec(compile("seen = walk()", "made_up.py", "exec"), module.__dict__)

            def create_module(self, spec):
                return None

        spec = importlib.util.spec_from_loader("made_up", Loader())
        module = importlib.util.module_from_spec(spec)
        module.walk = walk
        spec.loader.exec_module(module)
        self.assertEqual(module.seen[1][0], "<module>")

    def test_decorators_partials_and_callbacks_through_c(self):
        def wrap(function):
            @functools.wraps(function)
            def wrapper(*args):
                return function(*args)
            return wrapper

        @wrap
        @functools.lru_cache(None)
        def decorated(value):
            return names()

        out = []
        self.assertEqual(decorated(1)[:2], ["decorated", "wrapper"])
        sorted([2, 1], key=lambda value: out.append(names()) or value)
        list(map(functools.partial(lambda a, b: out.append(names()), 1), [2]))
        functools.reduce(lambda a, b: out.append(names()), [1, 2])
        self.assertEqual([n[0] for n in out], ["<lambda>"] * 4)

        class Hooked:
            def __eq__(self, other):
                out.append(names())
                return True

            def __del__(self):
                out.append(names())

        self.assertIn(Hooked(), [1])
        gc.collect()
        self.assertIn("__eq__", [n[0] for n in out])
        self.assertIn("__del__", [n[0] for n in out])

    def test_coroutines(self):
        async def inner():
            await asyncio.sleep(0)
            return names()

        async def outer():
            return await inner()

        async def items():
            yield names()

        async def collect():
            return [n async for n in items()]

        self.assertEqual(asyncio.run(outer())[:2], ["inner", "outer"])
        self.assertEqual(asyncio.run(collect())[0][0], "items")

    def test_exceptions_and_with(self):
        class Manager:
            def __enter__(self):
                return names()

            def __exit__(self, *error):
                self.seen = names()
                return True

        manager = Manager()
        with manager as entered:
            raise ValueError
        self.assertEqual((entered[0], manager.seen[0]), ("__enter__", "__exit__"))

    def test_tracing_and_profiling(self):
        def traced():
            return walk()

        try:
            sys.settrace(lambda *args: None)
            self.assertEqual(traced()[1][0].rpartition(".")[2], "traced")
        finally:
            sys.settrace(None)
        out = []
        try:
            sys.setprofile(lambda frame, event, arg: out.append(1))
            traced()
        finally:
            sys.setprofile(None)

    def test_long_functions_with_extended_arguments(self):
        lines = ["def long():"] + ["    x%d = %d" % (i, i) for i in range(700)] + ["    return walk()"]
        space = {"walk": walk}
        exec(compile("\n".join(lines), "long.py", "exec"), space)
        self.assertEqual(space["long"]()[1][0], "long")

    def test_threads(self):
        out, failures = [], []

        def work():
            try:
                out.append(names())
            except BaseException as error:
                failures.append(error)

        threads = [threading.Thread(target=work) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(failures, [])
        self.assertEqual({n[0] for n in out}, {"work"})

    def test_a_rebuilt_code_object_is_told_from_the_old_one(self):
        def build(line, name):
            space = {"walk": walk}
            exec(compile("\n" * line + "def %s(): return walk()" % name, "rebuilt.py", "exec"), space)
            return space[name]

        prints = {}
        for i in range(300):
            line, name = i % 7, "f%d" % (i % 3)
            function = build(line, name)
            _, fingerprint, code = function()[1]
            content = seen(function.__code__)
            known = prints.setdefault((code, fingerprint), content)
            self.assertEqual(known, content)
            del function
            gc.collect()

    def test_walks_while_other_threads_run(self):
        stop = threading.Event()

        def busy():
            def churn(depth):
                return [churn(depth - 1)] if depth else (yield_values(), compile("1+1", "x", "eval"))

            def yield_values():
                return sum(i for i in range(50))

            while not stop.is_set():
                churn(20)

        threads = [threading.Thread(target=busy) for _ in range(3)]
        for thread in threads:
            thread.start()
        try:
            for _ in range(20):
                self.assertGreater(probe.probe_walk_repeatedly(2000), 3)
        finally:
            stop.set()
            for thread in threads:
                thread.join()

    def test_native_frames_lead_through_the_interpreter(self):
        pcs = (ctypes.c_uint64 * 24)()
        self.assertGreaterEqual(probe.probe_native(pcs, 24), 5)


CHILD = """
import ctypes, os, sys, threading, time
probe = ctypes.CDLL(os.environ["CUHEAP_PROBE"])
probe.probe_attach()
def spin(until):
    while not until():
        sum(range(100))
"""


def run_child(text):
    """What a fresh interpreter of the same version prints."""
    return subprocess.run([sys.executable, "-c", CHILD + text], check=True, capture_output=True, text=True, timeout=120).stdout


class SelfCheck(unittest.TestCase):
    def test_a_fresh_interpreter_is_unchecked_then_checked(self):
        out = run_child("""
assert probe.probe_state() == 1, probe.probe_state()
assert probe.probe_version() == sys.hexversion, hex(probe.probe_version())
probe.probe_schedule()
spin(lambda: probe.probe_check_result() >= 0)
print(probe.probe_check_result(), probe.probe_state(), sys.exc_info())
""")
        self.assertEqual(out.strip(), "2 2 (None, None, None)")

    def test_it_runs_on_a_busy_main_thread_when_asked_by_another(self):
        out = run_child("""
def deep(n):
    return deep(n - 1) if n else spin(lambda: probe.probe_check_result() >= 0)
def ask():
    time.sleep(0.05)
    probe.probe_schedule()
    probe.probe_schedule()
thread = threading.Thread(target=ask)
thread.start()
deep(200)
thread.join()
print(probe.probe_check_result())
""")
        self.assertEqual(out.strip(), "2")

    def test_it_leaks_no_reference_and_sets_no_exception(self):
        out = run_child("""
def here():
    before = sys.getrefcount(here.__code__)
    probe.probe_schedule()
    spin(lambda: probe.probe_check_result() >= 0)
    return sys.getrefcount(here.__code__) - before
print(here(), probe.probe_state())
""")
        self.assertEqual(out.strip(), "0 2")

    def test_names_that_cannot_be_encoded_do_not_count_against_it(self):
        out = run_child("""
space = {"spin": spin, "probe": probe}
exec(compile("def f():\\n  spin(lambda: probe.probe_check_result() >= 0)", "bad\\udc80.py", "exec"), space)
probe.probe_schedule()
space["f"]()
print(probe.probe_check_result(), sys.exc_info())
""")
        self.assertEqual(out.strip(), "2 (None, None, None)")

    def test_one_that_is_still_pending_at_exit_does_no_harm(self):
        self.assertEqual(run_child("""
import atexit
atexit.register(lambda: probe.probe_schedule())
print("done")
"""), "done\n")

    def test_frames_are_the_same_before_and_after(self):
        out = run_child("""
count = ctypes.c_int()
def here():
    probe.probe_walk_ns(ctypes.c_int(1), ctypes.byref(count))
    return count.value
a = [here() for _ in range(200)]
probe.probe_schedule()
spin(lambda: probe.probe_check_result() >= 0)
b = [here() for _ in range(200)]
print(set(a) == set(b), probe.probe_state())
""")
        self.assertEqual(out.strip(), "True 2")


class Limits(unittest.TestCase):
    def test_switched_off_means_no_frames(self):
        out = run_child("""
count = ctypes.c_int(7)
probe.probe_switch_off()
probe.probe_walk_ns(ctypes.c_int(1), ctypes.byref(count))
print(count.value, probe.probe_state())
""")
        self.assertEqual(out.strip(), "0 5")

    def test_a_thread_without_python_has_no_frames(self):
        out = run_child("""
libc = ctypes.CDLL(None)
thread, result = ctypes.c_ulong(), ctypes.c_void_p()
entry = ctypes.cast(probe.probe_walk_repeatedly, ctypes.c_void_p)
assert libc.pthread_create(ctypes.byref(thread), None, entry, ctypes.c_void_p(3)) == 0
assert libc.pthread_join(thread, ctypes.byref(result)) == 0
print(result.value or 0)
""")
        self.assertEqual(out.strip(), "0")

    def test_a_second_interpreter_switches_the_frames_off(self):
        try:
            import _testcapi
            run = _testcapi.run_in_subinterp
        except (ImportError, AttributeError):
            self.skipTest("this build has no _testcapi")
        out = run_child("""
import _testcapi
count = ctypes.c_int(7)
_testcapi.run_in_subinterp('''
import ctypes, os
probe = ctypes.CDLL(os.environ["CUHEAP_PROBE"])
probe.probe_walk_repeatedly(1)
''')
probe.probe_walk_ns(ctypes.c_int(1), ctypes.byref(count))
print(count.value, probe.probe_state())
""")
        self.assertEqual(out.strip(), "0 4")

    def test_daemon_threads_that_walk_survive_the_end_of_the_interpreter(self):
        for _ in range(3):
            self.assertEqual(run_child("""
def work():
    while True:
        probe.probe_walk_repeatedly(200)
for _ in range(4):
    threading.Thread(target=work, daemon=True).start()
time.sleep(0.1)
print("done")
"""), "done\n")


if __name__ == "__main__":
    unittest.main(verbosity=1)
