"""Nothing is lost: stop anywhere, resume on another number of ranks, end with the same bits."""

import os
import random
import shutil
import signal
import unittest

from harness import SystemTest, finish, ranks_of, read_metrics, run, start, train_arguments, without_times


class Resume(SystemTest):
    def setUp(self):
        super().setUp()
        self.train(0, "unbroken")
        self.expected = without_times(read_metrics(self.folder / "unbroken"))

    def check_same_as_unbroken(self, name):
        self.assertEqual(self.weights(name), self.weights("unbroken"))
        self.assertEqual(without_times(read_metrics(self.folder / name)), self.expected)

    def test_stopped_after_every_step_on_changing_ranks(self):
        # 150 samples in batches of 40: steps 1 to 3 and 5 to 7 end in the middle of an epoch.
        ranks = [1, 2, 3, 4, 2, 8, 1, 3]
        for step in range(1, 8):
            extra = ["--stop_at_step", str(step)] + (["--resume", "latest"] if step > 1 else [])
            result = self.train(ranks[step - 1], "stops", {}, *extra, status=75)
            self.assertIn(f"step {step}", result.output)
        self.train(4, "stops", {}, "--resume", "latest")
        self.check_same_as_unbroken("stops")

    def test_killed_at_random_moments(self):
        rng = random.Random(7)
        attempt = 0
        while True:
            attempt += 1
            self.assertLess(attempt, 40)
            process = start("train", rng.choice([1, 2, 3]),
                            train_arguments(self.folder / "killed", {}, "--resume", "latest"))
            try:
                process.wait(timeout=0.6 + rng.random() * 0.8)
            except Exception:
                victims = ranks_of(process.pid)
                os.kill(rng.choice(victims) if victims else process.pid, signal.SIGKILL)
            result = finish(process, 30)
            if result.status == 0:
                break
        self.check_same_as_unbroken("killed")
        leftovers = [p.name for p in (self.folder / "killed" / "checkpoints").iterdir()
                     if not p.name.startswith("step-")]
        self.assertEqual(leftovers, [])

    def test_a_damaged_checkpoint_is_reported_and_the_previous_one_used(self):
        self.train(2, "damaged", {}, "--stop_at_step", "5", status=75)
        newest = self.folder / "damaged" / "checkpoints" / "step-00000005" / "model.safetensors"
        os.truncate(newest, newest.stat().st_size // 2)
        result = self.train(3, "damaged", {}, "--resume", "latest")
        self.assertIn("step-00000005", result.output)
        self.assertIn("step-00000004", result.output)
        self.check_same_as_unbroken("damaged")

    def test_a_checkpoint_can_be_named(self):
        self.train(2, "source", {"checkpoint.keep": 10}, "--stop_at_step", "3", status=75)
        checkpoint = self.folder / "source" / "checkpoints" / "step-00000002"
        self.train(1, "copy", {"checkpoint.keep": 10}, "--resume", checkpoint)
        self.assertEqual(self.weights("copy"), self.weights("unbroken"))

    def test_without_a_recipe_it_goes_on_as_it_was_configured(self):
        self.train(2, "own", {}, "--stop_at_step", "3", status=75)
        result = run("train", 3, ["--output", self.folder / "own", "--resume", "latest"])
        self.assertEqual(result.status, 0, str(result))
        self.check_same_as_unbroken("own")

    def test_a_finished_run_says_so(self):
        shutil.copytree(self.folder / "unbroken", self.folder / "again")
        result = self.train(2, "again", {}, "--resume", "latest")
        self.assertEqual(result.output.count("nothing left to do"), 1, str(result))
        self.check_same_as_unbroken("again")

    def test_an_existing_run_is_not_overwritten(self):
        result = self.train(2, "unbroken", {}, status=64)
        self.assertIn("--resume latest", result.output)
        self.assertEqual(without_times(read_metrics(self.folder / "unbroken")), self.expected)

    def test_another_model_is_refused_with_names(self):
        self.train(2, "source", {}, "--stop_at_step", "2", status=75)
        result = self.train(2, "source", {"model.hidden": "8,8,12"}, "--resume", "latest", status=64)
        self.assertIn("fc1.weight", result.output)


class Signals(SystemTest):
    def start_long_run(self, name, ranks):
        process = start("train", ranks, train_arguments(self.folder / name, {"epochs": 100000, "checkpoint.every_steps": 0}))
        self.wait_for(lambda: (self.folder / name / "metrics.jsonl").exists() and read_metrics_safely(self.folder / name),
                      "the first step")
        return process

    def test_usr1_saves_and_goes_on_usr2_saves_and_ends(self):
        process = self.start_long_run("signalled", 3)
        process.send_signal(signal.SIGUSR1)
        checkpoints = self.folder / "signalled" / "checkpoints"
        self.wait_for(lambda: checkpoints.exists() and any(p.name.startswith("step-") for p in checkpoints.iterdir()),
                      "a checkpoint after SIGUSR1")
        self.assertIsNone(process.poll())
        process.send_signal(signal.SIGUSR2)
        result = finish(process, 30)
        self.assertEqual(result.status, 75, str(result))
        saved = sorted(p.name for p in checkpoints.iterdir())
        self.assertGreaterEqual(len(saved), 1)

    def test_a_signal_to_one_rank_stops_all_at_the_same_step(self):
        process = self.start_long_run("one", 4)
        os.kill(ranks_of(process.pid)[2], signal.SIGUSR2)
        result = finish(process, 30)
        self.assertEqual(result.status, 75, str(result))

    def test_sigterm_without_mpirun_saves_and_exits_75(self):
        process = self.start_long_run("alone", 0)
        process.send_signal(signal.SIGTERM)
        result = finish(process, 30)
        self.assertEqual(result.status, 75, str(result))
        self.assertTrue(any((self.folder / "alone" / "checkpoints").iterdir()))


def read_metrics_safely(folder):
    try:
        return read_metrics(folder)
    except ValueError:
        return []


if __name__ == "__main__":
    unittest.main()
