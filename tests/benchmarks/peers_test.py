"""benchmarks/peers: its arithmetic, what it reads of logs and files, its page; and a short run of lockstep alone."""

import argparse
import json
import os
import pathlib
import struct
import subprocess
import sys
import tempfile
import unittest

FOLDER = pathlib.Path(__file__).resolve().parents[2] / "benchmarks" / "peers"
sys.path.insert(0, str(FOLDER))

import lockstep_run  # noqa: E402
import machine  # noqa: E402
import measure  # noqa: E402
import page  # noqa: E402
import results  # noqa: E402
import torch_peer  # noqa: E402
from cases import CASES, Case, lockstep_settings, slots  # noqa: E402
from machine import RunError  # noqa: E402

BY_MODEL = {case.model: case for case in CASES}
CNN = BY_MODEL["cnn"]
SMALL_MLP = Case("mlp", 4, (1, 6, 6), 10, settings=BY_MODEL["mlp"].settings)
TORCH = torch_peer.Torch("python3", "2.15.0", "3.13.3", "MKL")


class FakeSide:
    """Steps of these times, one run after another; then it fails."""

    def __init__(self, *seconds, layout="NCHW", parameters=7):
        self.configuration = torch_peer.Configuration(TORCH, layout, ())
        self.asked = []
        self._seconds = list(seconds)
        self._parameters = parameters

    def run(self, case, precision, warmup, steps, timeout):
        self.asked.append((case.model, precision, warmup, steps))
        if not self._seconds:
            raise RunError("refused")
        return {"step_seconds": [self._seconds.pop(0)] * 3, "memory_bytes": 1 << 20, "parameters": self._parameters}

    def profile(self, case, timeout):
        return {"flops_per_step": 8.0, "peak_flops": 2.0, "bytes_per_step": 3.0, "memory_bandwidth": 1.0}


def measured(lockstep, peers, precision="fp32"):
    arguments = argparse.Namespace(budget=60, seconds=10, pairs=2, ranks=2)
    return measure.measure(CNN, precision, lockstep, peers, arguments)


def record(**changes):
    base = {"case": "cnn", "text": "cnn, 64 x 1 x 28 x 28", "precision": "fp32", "items": "images",
            "items_per_step": 128, "ranks": 2, "threads": 1, "date": "2026-11-30", "command": "measure.py --only cnn",
            "machine": {"cpu": "A CPU", "cores": 2, "flags": ["avx2"], "memory_bytes": 8 << 30},
            "program": {"version": "lockstep 1", "commit": "abc", "onednn": "libdnnl.so.2.6"},
            "torches": [{"version": "2.15.0", "onednn": "3.13.3", "blas": "MKL"}],
            "failed": {}, "configuration": {"text": "PyTorch 2.15.0, NCHW"}, "bound": None,
            "lockstep": {"step_seconds": [0.5, 0.5], "items_per_second": 256.0, "memory_bytes": 1 << 20},
            "torch": {"step_seconds": [1.0, 1.5], "items_per_second": 102.4, "memory_bytes": 4 << 20},
            "scan": {"PyTorch 2.15.0, NCHW": {"memory_bytes": 4 << 20}, "plain": {"memory_bytes": 3 << 20}},
            "ratios": [2.0, 3.0]}
    return {**base, **changes}


class ArithmeticTest(unittest.TestCase):
    def test_spread_is_median_least_and_most(self):
        self.assertEqual(results.spread([3.0, 1.0, 2.0, 9.0]), (2.5, 1.0, 9.0))

    def test_a_ratio_is_of_one_pair(self):
        self.assertEqual(results.speed_ratios([(1.0, 2.0), (4.0, 2.0)]), [2.0, 0.5])

    def test_the_bound_is_what_takes_longer(self):
        profile = {"flops_per_step": 8.0, "peak_flops": 2.0, "bytes_per_step": 6.0, "memory_bandwidth": 2.0}
        self.assertEqual(results.bound(profile), (4.0, "arithmetic"))
        self.assertEqual(results.bound({**profile, "bytes_per_step": 10.0}), (5.0, "memory"))

    def test_steps_fill_the_time_within_limits(self):
        self.assertEqual(measure.steps_for(10, 1), 10)
        self.assertEqual(measure.steps_for(10, 9), measure.FEWEST_STEPS)
        self.assertEqual(measure.steps_for(10, 1e-6), measure.MOST_STEPS)

    def test_a_step_lasts_from_the_end_of_the_one_before(self):
        records = [{"wall_time": time} for time in (5.0, 6.0, 8.0, 11.0)]
        self.assertEqual(lockstep_run.step_seconds(records, 1), [1.0, 2.0, 3.0])
        self.assertEqual(lockstep_run.step_seconds(records, 3), [3.0])

    def test_every_rank_has_a_slot(self):
        self.assertEqual([slots(ranks) for ranks in (1, 2, 3, 4, 5)], [1, 2, 4, 4, 8])


class MachineTest(unittest.TestCase):
    def test_lists_of_cpus(self):
        self.assertEqual(machine.parse_cpu_list("0-2,8\n"), [0, 1, 2, 8])

    def test_hardware_threads_share_a_core(self):
        siblings = {0: [0, 4], 1: [1, 5], 4: [0, 4], 5: [1, 5]}
        self.assertEqual(machine.first_of_each_core([0, 1, 4, 5], siblings.get), [0, 1])
        self.assertEqual(machine.first_of_each_core([4, 1], siblings.get), [4, 1])

    def test_the_tail_of_a_text(self):
        self.assertEqual(machine.tail("a\nb\n\n c \n", 2), "b / c")


class ReadingTest(unittest.TestCase):
    def test_the_message_of_an_error(self):
        text = "rank 0: error: [config] 1 mistake:\nrank 0:   precision = BF16: expected FP32\n-----\nPrimary job\n"
        self.assertEqual(lockstep_run.error_of(text), "[config] 1 mistake: precision = BF16: expected FP32")

    def test_a_precision_that_was_not_used(self):
        log = "rank 0: precision: BF16 needs AMX; this processor has none; computing in FP32\nprecision: FP32\n"
        self.assertEqual(lockstep_run.fallback_of(log), "BF16 needs AMX; this processor has none; computing in FP32")
        self.assertIsNone(lockstep_run.fallback_of("precision: BF16 (weights, sums and losses in FP32)\n"))

    def test_parameters_are_counted_without_statistics(self):
        header = json.dumps({"__metadata__": {"a": "b"}, "fc.weight": {"shape": [2, 3]}, "fc.bias": {"shape": [2]},
                             "bn.running_mean": {"shape": [50]}, "bn.num_batches_tracked": {"shape": []}}).encode()
        with tempfile.NamedTemporaryFile() as weights:
            weights.write(struct.pack("<Q", len(header)) + header)
            weights.flush()
            self.assertEqual(lockstep_run.count_parameters(weights.name), 8)

    def test_newer_versions_come_first(self):
        versions = sorted(["2.9.1", "1.13.0a0", "2.15.0"], key=torch_peer.version_key, reverse=True)
        self.assertEqual(versions, ["2.15.0", "2.9.1", "1.13.0a0"])

    def configurations(self, model, torches, vendor="GenuineIntel", with_compiled=False):
        return [one.text for one in torch_peer.configurations(torches, BY_MODEL[model], vendor, with_compiled)]

    def test_layouts_are_for_convolutions(self):
        self.assertEqual(self.configurations("mlp", [TORCH]), ["PyTorch 2.15.0, tuned malloc", "PyTorch 2.15.0"])
        self.assertEqual(self.configurations("cnn", [TORCH], "AuthenticAMD"),
                         ["PyTorch 2.15.0, channels_last, tuned malloc", "PyTorch 2.15.0, channels_last",
                          "PyTorch 2.15.0, NCHW, tuned malloc", "PyTorch 2.15.0, NCHW"])

    def test_mkl_is_told_that_it_is_on_intel(self):
        openblas = torch_peer.Torch("python3", "1.13.0", "2.6.3", "OpenBLAS")
        self.assertEqual(self.configurations("gpt2", [TORCH, openblas], "AuthenticAMD"),
                         ["PyTorch 2.15.0, tuned malloc", "PyTorch 2.15.0",
                          "PyTorch 2.15.0, tuned malloc, MKL as on Intel",
                          "PyTorch 1.13.0, tuned malloc", "PyTorch 1.13.0"])

    def test_compiled_is_the_newest_only(self):
        old = torch_peer.Torch("python3", "1.13.0", "2.6.3", "MKL")
        texts = self.configurations("mlp", [TORCH, old], with_compiled=True)
        self.assertEqual([text for text in texts if "compiled" in text], ["PyTorch 2.15.0, tuned malloc, compiled"])

    def test_the_command_is_what_decides_the_figures(self):
        arguments = argparse.Namespace(ranks=2, threads=1, pairs=5, seconds=1.5, budget=600.0, compile=True)
        self.assertEqual(measure.command_text(arguments), "benchmarks/peers/measure.py --ranks 2 --threads 1 --pairs 5 "
                                                          "--seconds 1.5 --budget 600 --compile")


class MeasureTest(unittest.TestCase):
    def test_the_fastest_configuration_is_compared(self):
        slow, fast = FakeSide(3.0), FakeSide(2.0, 4.0, 6.0, layout="channels_last")
        lockstep = FakeSide(9.0, 2.0, 1.0)
        result = measured(lockstep, [slow, fast])
        self.assertEqual(result["ratios"], [2.0, 6.0])
        self.assertEqual(result["configuration"]["text"], "PyTorch 2.15.0, channels_last")
        self.assertEqual(result["torch"]["items_per_second"], 128 / 5)
        self.assertEqual(fast.asked, [("cnn", "fp32", 10, 50)] + [("cnn", "fp32", 2, 5)] * 2)
        self.assertEqual(lockstep.asked, fast.asked)

    def test_the_bound_is_one_of_single_precision(self):
        for precision, bound in (("fp32", FakeSide().profile(CNN, 0)), ("bf16", None)):
            self.assertEqual(measured(FakeSide(9.0, 1.0), [FakeSide(1.0, 1.0)], precision)["bound"], bound)

    def test_pairs_end_with_the_time(self):
        result = measured(FakeSide(9.0, 1.0), [FakeSide(1.0, 1.0, 1.0)])
        self.assertEqual(result["ratios"], [1.0])
        self.assertIn("no pair of runs", measured(FakeSide(9.0), [FakeSide(1.0)])["unavailable"])

    def test_what_lockstep_refuses_is_in_its_words(self):
        result = measured(FakeSide(), [FakeSide(2.0)])
        self.assertEqual(result["unavailable"], "refused")
        self.assertEqual(result["torch"]["items_per_second"], 64)

    def test_a_configuration_that_fails_is_named(self):
        result = measured(FakeSide(1.0, 1.0, 1.0), [FakeSide(), FakeSide(1.0, 1.0, 1.0, layout="channels_last")])
        self.assertEqual(result["failed"], {"PyTorch 2.15.0, NCHW": "refused"})
        self.assertEqual(list(result["scan"]), ["PyTorch 2.15.0, channels_last"])
        self.assertNotIn("torch", measured(FakeSide(1.0), [FakeSide()]))

    def test_other_models_are_not_compared(self):
        with self.assertRaisesRegex(SystemExit, "7 parameters in lockstep, 8 in PyTorch"):
            measured(FakeSide(1.0, 1.0, 1.0), [FakeSide(1.0, 1.0, 1.0, parameters=8)])


class PageTest(unittest.TestCase):
    def test_a_row(self):
        self.assertEqual(page.row(record()),
                         "| cnn, 64 x 1 x 28 x 28 | fp32 | 256 images/s | 102 images/s | **2.50** (2.00 to 3.00) "
                         "| 1 / 4 MiB = 0.25; leanest 3 |  | PyTorch 2.15.0, NCHW |\n")

    def test_the_bound_in_items(self):
        profile = {"flops_per_step": 8.0, "peak_flops": 32.0, "bytes_per_step": 1.0, "memory_bandwidth": 10.0}
        self.assertIn("| 512 images/s by arithmetic; 50 % reached |", page.row(record(bound=profile)))

    def test_what_is_missing_has_a_reason(self):
        refused = record(precision="bf16", unavailable="no BF16", failed={"PyTorch 1.13, NCHW": "too slow"})
        del refused["ratios"], refused["lockstep"]
        part = page.measured_part([record(), refused])
        self.assertIn("| bf16 | not available | 102 images/s |  |", part)
        self.assertIn("- cnn, bf16, lockstep: no BF16\n- cnn, bf16, PyTorch 1.13, NCHW was left out: too slow\n", part)

    def test_a_slow_blas_is_told(self):
        old = {"version": "1.13.0", "onednn": "2.6.3", "blas": "reference BLAS"}
        self.assertIn("PyTorch 1.13.0 multiplied fp32 matrices with the reference BLAS",
                      page.measured_part([record(torches=[old])]))
        self.assertNotIn("multiplied", page.measured_part([record()]))

    def test_conditions_are_told_once(self):
        part = page.measured_part([record(), record(precision="bf16", date="2026-12-01")])
        self.assertIn("- machine: 2 cores of A CPU (avx2), 8 GiB\n- ranks: 2, threads of each: 1\n"
                      "- lockstep: 1, commit abc, libdnnl.so.2.6\n", part)
        self.assertIn("- date: 2026-11-30; 2026-12-01\n", part)
        self.assertEqual(part.count("    measure.py --only cnn\n"), 1)

    def test_text_around_the_measured_part_stays(self):
        text = f"before\n{page.BEGIN}old \\1\n{page.END}after\n"
        self.assertEqual(page.replace_measured(text, "new \\1\n"), f"before\n{page.BEGIN}new \\1\n{page.END}after\n")
        with self.assertRaisesRegex(SystemExit, "no lines"):
            page.replace_measured("nothing", "new")

    def test_the_program_writes_the_page_from_the_newest_results(self):
        with tempfile.TemporaryDirectory() as name:
            lines, written = pathlib.Path(name, "build/peers.jsonl"), pathlib.Path(name, "page.md")
            written.write_text(f"{page.BEGIN}{page.END}", encoding="utf-8")
            for one in (record(ratios=[9.0]), record(precision="bf16"), record()):
                results.append(lines, one)
            subprocess.run([sys.executable, "-B", FOLDER / "measure.py", "--results", lines, "--write-docs", written],
                           check=True)
            self.assertEqual(written.read_text(encoding="utf-8").count("**2.50** (2.00 to 3.00)"), 2)

    def test_the_page_of_the_documentation_has_its_place(self):
        text = (FOLDER.parents[1] / "docs" / "performance.md").read_text(encoding="utf-8")
        self.assertIn("new\n", page.replace_measured(text, "new\n"))


class LockstepTest(unittest.TestCase):
    """The real program on one rank."""

    def setUp(self):
        cpu = str(min(os.sched_getaffinity(0)))
        self.lockstep = lockstep_run.Lockstep(pathlib.Path(os.environ["LOCKSTEP_BIN"]) / "train", [cpu], 1)

    def test_images(self):
        result = self.lockstep.run(SMALL_MLP, "fp32", 2, 3, 120)
        self.assertEqual(len(result["step_seconds"]), 3)
        self.assertGreater(min(result["step_seconds"]), 0)
        self.assertGreater(result["memory_bytes"], 4 * result["parameters"])
        self.assertEqual(result["parameters"], 37 * 1024 + 1025 * 1024 + 1025 * 10)

    def test_tokens(self):
        tiny = {"model.layers": 1, "model.heads": 2, "model.width": 8}
        result = self.lockstep.run(Case("gpt2", 2, (16,), 50257, "adamw", tiny), "fp32", 1, 2, 120)
        self.assertEqual(len(result["step_seconds"]), 2)

    def test_a_run_that_takes_too_long(self):
        with self.assertRaisesRegex(RunError, "not done within its time"):
            self.lockstep.run(SMALL_MLP, "fp32", 1, 100000, 2)

    def test_a_refusal(self):
        with self.assertRaisesRegex(RunError, r"^\[.*hidden"):
            self.lockstep.run(Case("mlp", 4, (1, 6, 6), 10, settings={"model.hidden": "-1"}), "fp32", 1, 1, 120)

    def test_settings_are_of_all_ranks(self):
        settings = lockstep_settings(CNN, "bf16", 3, 2, 10)
        self.assertEqual((settings["global_batch"], settings["micro_batch"], settings["virtual_ranks"]), (192, 64, 4))
        self.assertEqual((settings["precision"], settings["data.synthetic.train_samples"]), ("BF16", 1920))


if __name__ == "__main__":
    unittest.main()
