#!/usr/bin/env python3
"""The benchmark of allocators in its quick form, with every block compared with all that live."""
import json
import os
import pathlib
import sys
import unittest

BENCH = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(BENCH))
import pool  # noqa: E402

BUILD = pathlib.Path(os.environ["CUHEAP_BENCH_BUILD"])


class PoolTest(unittest.TestCase):
    def test_every_peer_serves_every_case_and_gives_all_memory_back(self):
        peers = pool.peers(BUILD)
        self.assertIn("cuda_malloc", peers)
        cases = list(pool.rows_of(BUILD, "harness", "--quick", "--check"))
        for peer in peers:
            with self.subTest(peer):
                rows = pool.rows_of(BUILD, peer, "--quick", "--check")
                self.assertEqual(list(rows), cases)
                for row in rows.values():
                    self.assertGreater(row["pairs"], 0)
                    self.assertGreater(row["wall"], 0)
                    self.assertLessEqual(row.get("p50", 0), row.get("p99", 0))

    def test_the_tables_of_the_page_are_those_of_the_kept_result(self):
        rows = json.loads((BENCH / "results/pool.json").read_text())
        self.assertIn("\n".join(pool.markdown(rows)), (BENCH / "README.md").read_text())

    def test_a_row_has_the_median_of_the_runs_and_of_the_ratios_within_them(self):
        def runs(*values):
            return [{"hit": {"case": "hit", "cpu": value, "wall": 2 * value}} for value in values]

        rows = {row["name"]: row for row in pool.rows({"cub": runs(10, 30, 20), "other": runs(5, 6, 2)})}
        self.assertEqual(rows["hit: cub"]["ratio"], 1)
        self.assertEqual((rows["hit: other"]["value"], rows["hit: other"]["wall"]), (5, 10))
        self.assertEqual(rows["hit: other"]["ratio"], 0.2)


if __name__ == "__main__":
    unittest.main()
