"""Large batches where /dev/shm is small, as in containers: batches do not travel through it."""

import os
import subprocess
import unittest

import harness


def with_shared_memory(size, words):
    """The command in a mount namespace of its own, whose /dev/shm holds so much."""
    unshare = ["unshare", "--mount"] if os.geteuid() == 0 else ["unshare", "--mount", "--map-root-user"]
    script = f'mount -t tmpfs -o size={size} none /dev/shm && exec "$@"'
    return [*unshare, "sh", "-c", script, "sh", *words]


class SharedMemory(harness.SystemTest):
    def test_batches_of_150_megabytes_with_4_loader_threads(self):
        settings = {
            "model.name": "linear", "model.hidden": "", "model.batch_norm": "false", "model.dropout": 0,
            "data.synthetic.channels": 3, "data.synthetic.height": 224, "data.synthetic.width": 224,
            "data.synthetic.train_samples": 512, "data.synthetic.test_samples": 8, "data.loader_threads": 4,
            "global_batch": 512, "micro_batch": 256, "epochs": 1, "checkpoint.every_steps": 0,
        }
        for size in ("64m", "1m"):
            with self.subTest(size=size):
                words = harness.command("train", 2, harness.train_arguments(self.folder / size, settings))
                done = subprocess.run(with_shared_memory(size, words), text=True, stdout=subprocess.PIPE,
                                      stderr=subprocess.STDOUT, timeout=120,
                                      env={**os.environ, **harness.MPI_ENVIRONMENT})
                self.assertEqual(done.returncode, 0, done.stdout)
                self.assertEqual(len(harness.read_metrics(self.folder / size)), 2, "a step and an evaluation")


if __name__ == "__main__":
    unittest.main()
