"""Folders of pictures, good and broken, through the real programs."""

import json
import pathlib
import shutil
import subprocess
import tempfile
import unittest

import harness


def recipe(path, **settings):
    return {
        "model.name": "cnn", "model.hidden": "4,8,8", "model.dropout": 0,
        "data.name": "image_folder", "data.path": path, "data.image.size": 8, "data.image.channels": 1,
        "data.image.center_crop": 1, "data.test_limit": 40, "data.augment.crop_padding": 1,
        "global_batch": 20, "micro_batch": 5, "epochs": 1,
        "checkpoint.every_steps": 0, **settings,
    }


class Pictures(harness.SystemTest):
    @classmethod
    def setUpClass(cls):
        cls.pictures = pathlib.Path(tempfile.mkdtemp(prefix="lockstep-test-")) / "pictures"
        cls.addClassCleanup(shutil.rmtree, cls.pictures.parent, ignore_errors=True)
        subprocess.run([harness.BIN / "make_image_folder", cls.pictures, "200"], check=True, capture_output=True)

    def copy(self):
        target = self.folder / "pictures"
        shutil.copytree(self.pictures, target)
        return target

    def broken(self):
        """A copy with one of each broken file; returns the folder, and the names that must be reported."""
        folder = self.copy()
        files = sorted((folder / "train").rglob("*.jpg"))
        empty, cut, stray, text = files[3], files[50], files[100], files[150]
        empty.write_bytes(b"")
        cut.write_bytes(cut.read_bytes()[: cut.stat().st_size // 2])
        content = stray.read_bytes()
        self.assertEqual(content[-2:], b"\xff\xd9")
        stray.write_bytes(content[:-2] + b"\x00" + content[-2:])
        text.write_text("this is no picture")
        return folder, [empty.name, cut.name, text.name], stray.name

    def test_the_same_bits_on_any_number_of_ranks(self):
        weights = []
        for ranks in (1, 2, 4):
            output = self.folder / f"np{ranks}"
            result = harness.run("train", ranks, harness.train_arguments(output, recipe(self.pictures)))
            self.assertEqual(result.status, 0, result)
            weights.append((output / "model.safetensors").read_bytes())
        self.assertEqual(weights[0], weights[1])
        self.assertEqual(weights[0], weights[2])

    def test_a_broken_picture_ends_the_run_by_name(self):
        folder, bad, _ = self.broken()
        result = harness.run("train", 2, harness.train_arguments(self.folder / "run", recipe(folder)))
        self.assertEqual(result.status, 65, result)
        self.assertTrue(any(name in result.output for name in bad), result)

    def test_broken_pictures_are_replaced_and_counted(self):
        folder, bad, stray = self.broken()
        lines = {}
        for ranks in (1, 2):
            output = self.folder / f"np{ranks}"
            settings = recipe(folder, **{"data.bad_samples": "REPLACE"})
            result = harness.run("train", ranks, harness.train_arguments(output, settings))
            self.assertEqual(result.status, 0, result)
            for name in bad:
                self.assertIn(name, result.output)
            self.assertNotIn(stray, result.output)
            lines[ranks] = harness.without_times(harness.read_metrics(output))
        self.assertEqual(lines[1], lines[2])
        steps = [line for line in lines[2] if "loss" in line]
        self.assertEqual([line["step"] for line in steps], list(range(1, 11)), "200 samples in batches of 20")
        self.assertEqual(sum(line.get("bad_samples", 0) for line in steps), 3)

    def test_verify_data_lists_them_without_training(self):
        folder, bad, stray = self.broken()
        arguments = ["verify-data", "fashion_mnist", "--threads", 2]
        for field, value in recipe(folder).items():
            arguments += ["--set", f"{field}={value}"]
        result = harness.run("lockstep", 0, arguments)
        self.assertEqual(result.status, 65, result)
        for name in bad:
            self.assertIn(name, result.output)
        self.assertNotIn(stray, result.output)
        self.assertIn("training data of image_folder: 200 samples, 3 faulty", result.output)
        self.assertIn("evaluation data of image_folder: 200 samples, 0 faulty", result.output)

    def test_another_class_ends_a_resume_with_both_lists(self):
        folder = self.copy()
        output = self.folder / "run"
        (folder / ".ipynb_checkpoints").mkdir()
        (folder / "train" / ".DS_Store").write_text("x")
        result = harness.run("train", 1, harness.train_arguments(output, recipe(folder), "--stop_at_step", 2))
        self.assertEqual(result.status, 75, result)
        self.assertIn("10 classes: 0, 1, 2", result.output)
        for part in ("train", "val"):
            shutil.copytree(folder / part / "0", folder / part / "another")
        result = harness.run("train", 2, harness.train_arguments(output, recipe(folder), "--resume", "latest"))
        self.assertEqual(result.status, 64, result)
        self.assertIn("8, 9; got 0, 1", result.output)
        self.assertIn("9, another", result.output)

    def test_predicts_and_evaluates(self):
        output = self.folder / "run"
        harness.run("train", 2, harness.train_arguments(output, recipe(self.pictures)))
        evaluated = harness.run("lockstep", 2, ["eval", output])
        self.assertEqual(evaluated.status, 0, evaluated)
        last = harness.read_metrics(output)[-1]
        self.assertIn(f'"eval_loss":{json.dumps(last["eval_loss"])}', evaluated.output)
        files = sorted((self.pictures / "val").rglob("*.jpg"))[:3]
        predicted = harness.run("lockstep", 0, ["predict", output, *files, "--top", 2])
        self.assertEqual(predicted.status, 0, predicted)
        answers = [json.loads(line) for line in predicted.output.splitlines()]
        self.assertEqual([answer["file"] for answer in answers], [str(file) for file in files])
        self.assertTrue(all(len(answer["top"]) == 2 and answer["top"][0]["name"] for answer in answers), answers)


if __name__ == "__main__":
    unittest.main()
