"""benchmarks/hosts: the wire's bound, shares and ratios, and the page; lockstep and the hosts are not needed."""

import io
import json
import pathlib
import sys
import tempfile
import unittest

BENCHMARKS = pathlib.Path(__file__).resolve().parents[2] / "benchmarks"
sys.path[:0] = [str(BENCHMARKS / "hosts"), str(BENCHMARKS / "peers")]

import allreduce  # noqa: E402
import lab  # noqa: E402
import sides  # noqa: E402
import tables  # noqa: E402
from machine import RunError  # noqa: E402

COMMON = {"rate": "1gbit", "date": "2026-12-01", "program": "lockstep 1, commit abc", "torch": None,
          "machine": {"cpu": "A CPU", "cores": 2, "flags": ["avx2"], "memory_bytes": 8 << 30}, "command": "measure.py"}
TRAINING = {**COMMON, "part": "mlp", "hosts": 2, "text": "mlp, 64", "failed": {"lockstep fp16": "not there"},
            "seconds": {"lockstep alone": [0.1], "lockstep fp32": [0.4, 0.5, 0.4], "PyTorch": [0.8, 0.5],
                        "lockstep fp32, not overlapped": [0.7, 0.7]}}
SUMS = {**COMMON, "part": "allreduce", "hosts": 4,
        "rows": [{"bytes": 10**6, "algorithm": "auto", "codec": "none", "p50_us": 25263.2},
                 {"bytes": 10**6, "algorithm": "auto", "codec": "fp16", "p50_us": 25263.2}]}


class Runner:
    """Steps of these times, one run after another; then it fails."""

    def __init__(self, *seconds):
        self.settings = []
        self._seconds = list(seconds)

    def run(self, case, precision, warmup, steps, timeout):
        self.settings.append(case.settings)
        if not self._seconds:
            raise RunError("refused")
        return {"step_seconds": [self._seconds.pop(0)] * steps}


class Arithmetic(unittest.TestCase):
    def test_rates(self):
        self.assertEqual(lab.bits_per_second("1gbit"), 10**9)
        self.assertEqual(lab.bits_per_second("250mbit"), 250 * 10**6)
        with self.assertRaises(SystemExit):
            lab.bits_per_second("fast")

    def test_what_crosses_the_wire(self):
        self.assertAlmostEqual(allreduce.wire_seconds(2, 25 << 20, "1gbit", 1), 0.2097152)
        self.assertAlmostEqual(allreduce.wire_seconds(4, 10**6, "1gbit"), 0.012 / 0.95)

    def test_the_hidden_share(self):
        self.assertAlmostEqual(tables.hidden_share(1, 2, 5), 0.75)
        self.assertEqual(tables.hidden_share(1, 5, 5), 0)
        self.assertIsNone(tables.hidden_share(1, 1, 0.9))

    def test_ratios_are_of_one_round(self):
        self.assertEqual(tables.ratios(TRAINING, "lockstep fp32", "PyTorch"), [2, 1])


class Rounds(unittest.TestCase):
    def test_sides_take_turns_and_one_that_fails_is_left_out(self):
        good, bad = Runner(1, 2), Runner(3)
        found = sides.run_rounds([sides.Side("good", good, {"comm.codec": "FP16"}), sides.Side("bad", bad)],
                                 sides.CASES["mlp"], 2, 2, float("inf"), log=io.StringIO())
        self.assertEqual(found, ({"good": [1, 2], "bad": [3]}, {"bad": "refused"}))
        self.assertEqual(good.settings[0]["comm.codec"], "FP16")
        self.assertNotIn("comm.codec", bad.settings[0])

    def test_the_time_ends_them(self):
        self.assertEqual(sides.run_rounds([sides.Side("late", Runner(1))], sides.CASES["mlp"], 2, 2, 0), ({}, {}))


class Page(unittest.TestCase):
    def test_training(self):
        table = tables.training_table(TRAINING)
        self.assertIn("| lockstep fp32 | 400 | 400 to 500 | 1.50 (1.00 to 2.00) | 50 % |", table)
        self.assertIn("| lockstep alone | 100 | 100 to 100 |  |  |", table)
        self.assertIn("lockstep fp16 was left out: not there", table)

    def test_allreduce(self):
        table = tables.allreduce_table(SUMS)
        self.assertIn("| 1,000,000 | auto | none | 25.3 | 12 | 12.6 | 2.00 |", table)
        self.assertIn("| 1,000,000 | auto | fp16 | 25.3 | 6 | 6.32 | 4.00 |", table)
        self.assertIn("not measured: no such command", tables.allreduce_table({**SUMS, "unavailable": "no such command"}))

    def test_the_newest_record_counts(self):
        with tempfile.NamedTemporaryFile("w+") as lines:
            for record in (TRAINING, SUMS, {**TRAINING, "date": "later"}):
                print(json.dumps(record), file=lines, flush=True)
            self.assertEqual([(one["part"], one["date"]) for one in tables.latest(lines.name)],
                             [("mlp", "later"), ("allreduce", "2026-12-01")])

    def test_it_is_written_between_its_marks(self):
        page = (BENCHMARKS.parent / "docs" / "hosts.md").read_text(encoding="utf-8")
        with tempfile.NamedTemporaryFile("w+") as copy:
            copy.write(page)
            copy.flush()
            tables.write(pathlib.Path(copy.name), [TRAINING, SUMS])
            written = pathlib.Path(copy.name).read_text(encoding="utf-8")
        self.assertIn("- links: 1gbit\n", written)
        self.assertEqual(written.split("<!-- measured: begin")[0], page.split("<!-- measured: begin")[0])


if __name__ == "__main__":
    unittest.main()
