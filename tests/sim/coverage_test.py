#!/usr/bin/env python3
"""Whose gap is whose: what the tables of docs/simulated-device.md find in sources."""
import pathlib
import tempfile
import unittest

import coverage
import source_definitions

DRIVER = """
namespace {

CUresult Widened(int old) { return face::Inner(old); }
CUresult Other() { return Partial(1); }

}  // namespace

// What it does.
// PARTIAL: one thing, and
// another.
CUresult face::Partial(int value,
                       int more) {
  return Sub(value);
}

CUresult face::Exact(int value) { return sim::Partial(object.Partial(value), Other()); }
CUresult face::Forwards(int value) {
  // PARTIAL is a word like any other here.
  return Partial(value);
}
CUresult face::ForwardsAgain() { return Forwards(1); }
// PARTIAL: inner.
CUresult face::Inner(int value) { return 0; }
CUresult face::ThroughAHelper(int value) { return Widened(value); }
"""

RUNTIME = """
#include "a.h"
#define FACE(name) \\
  cuIsNoCall(name)

template <typename Call>
CUresult Set(Call&& call) {
  return driver.cuSet(call);
}

CUHEAP_FORWARD(cudaPlain, cuPlain,
               (int value), value)
CUHEAP_FORWARD(cudaSecond, cuSecond, (int value), value)

// cuBad is not called.
extern "C" cudaError_t cudaSet(const char* name) {
  return Say("cuBad") ? Set(name) : 0;
}

CUresult AfterIt() { return driver.cuBad(); }

// PARTIAL: nothing is sampled.
extern "C" cudaError_t cudaSample(
    int value) {
  return cudaPlain(value);
}
// PARTIAL: as cuBad.
CUHEAP_TWO_FACES(cudaBad, _ptsz, (int value), value) {
  return driver.cuBad(value);
}
extern "C" cudaError_t cudaSamples() { return cudaSample(1); }
"""


HEADER = """
 * \\defgroup CUDART_EVENT Events
extern __host__ cudaError_t CUDARTAPI cudaFirst(int value);
#if __CUDART_API_VERSION >= 11010
    extern __host__ cudaError_t CUDARTAPI cudaIndented(int value);
#endif
 * \\defgroup CUDART_OTHER Others
extern __host__ cudaError_t CUDARTAPI cudaOther(int value);
"""


class HeaderTest(unittest.TestCase):
    def test_groups_have_all_their_declarations(self):
        with tempfile.NamedTemporaryFile("w") as header:
            header.write(HEADER)
            header.flush()
            groups = coverage.groups_of(pathlib.Path(header.name), ["CUDART_EVENT"], coverage.RUNTIME_DECLARATION)
        self.assertEqual({"CUDART_EVENT": ["cudaFirst", "cudaIndented"]}, groups)


class DriverTest(unittest.TestCase):
    def setUp(self):
        self.face = source_definitions.Face({"driver.cc": DRIVER}, source_definitions.DRIVER_FUNCTION)

    def gap(self, name):
        return coverage.driver_gap(name, self.face)

    def test_a_comment_belongs_to_the_function_below_it(self):
        self.assertEqual("one thing, and another", self.gap("Partial"))
        self.assertEqual("inner", self.gap("Inner"))
        self.assertEqual("", self.gap("Exact"))

    def test_a_function_that_forwards_is_no_better(self):
        self.assertEqual("as cuPartial", self.gap("Forwards"))
        self.assertEqual("as cuForwards", self.gap("ForwardsAgain"))
        self.assertEqual("as cuInner", self.gap("ThroughAHelper"))

    def test_a_comment_above_anything_else_is_an_error(self):
        for text in ("// PARTIAL: nobody.\nint Helper() { return 0; }\n", "// PARTIAL: the end.\n"):
            with self.assertRaises(ValueError):
                source_definitions.Face({"a.cc": text}, source_definitions.DRIVER_FUNCTION)


class RuntimeTest(unittest.TestCase):
    def setUp(self):
        sources = {"a.cc": RUNTIME, "b.cc": 'extern "C" cudaError_t cudaElsewhere() { return AfterIt(); }\n'}
        self.face = source_definitions.Face(sources, source_definitions.RUNTIME_FUNCTION)
        rows = [("cuPlain", coverage.EXACT, ""), ("cuSecond", coverage.EXACT, ""), ("cuSet_v2", coverage.PARTIAL, "much"),
                ("cuBad", coverage.PARTIAL, "all")]
        self.by_base = {coverage.base_of(symbol): [(symbol, 1, status, why)] for symbol, status, why in rows}

    def gap(self, name):
        return coverage.missing(self.face[name], coverage.runtime_faults(name, self.face, self.by_base))

    def test_every_function_is_found(self):
        names = {"cudaPlain", "cudaSecond", "cudaSet", "cudaSample", "cudaSamples", "cudaBad", "cudaElsewhere"}
        self.assertEqual(names, set(self.face.functions))

    def test_neighbours_comments_and_strings_are_no_calls(self):
        self.assertEqual("", self.gap("cudaPlain"))
        self.assertEqual("", self.gap("cudaSecond"))
        self.assertEqual("as cuSet_v2", self.gap("cudaSet"))

    def test_a_comment_above_an_exported_function_is_not_lost(self):
        self.assertEqual("nothing is sampled", self.gap("cudaSample"))
        self.assertEqual("as cudaSample", self.gap("cudaSamples"))

    def test_nothing_is_said_twice(self):
        self.assertEqual("as cuBad", self.gap("cudaBad"))

    def test_helpers_of_other_sources_count(self):
        self.assertEqual("as cuBad", self.gap("cudaElsewhere"))


if __name__ == "__main__":
    unittest.main()
