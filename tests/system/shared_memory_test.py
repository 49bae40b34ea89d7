"""Large batches where /dev/shm is small, as in containers: batches do not travel through it."""

import shutil
import time
import unittest

import harness

MOST = 32 << 20  # bytes: Open MPI keeps 4 MiB there for each rank


def used():
    return shutil.disk_usage("/dev/shm").used


class SharedMemory(harness.SystemTest):
    def test_batches_of_150_megabytes_with_4_loader_threads_need_next_to_none(self):
        settings = {
            "model.name": "linear", "model.hidden": "", "model.batch_norm": "false", "model.dropout": 0,
            "data.synthetic.channels": 3, "data.synthetic.height": 224, "data.synthetic.width": 224,
            "data.synthetic.train_samples": 512, "data.synthetic.test_samples": 8, "data.loader_threads": 4,
            "global_batch": 512, "micro_batch": 256, "epochs": 1, "checkpoint.every_steps": 0,
        }
        before = used()
        most = 0
        process = harness.start("train", 2, harness.train_arguments(self.folder / "run", settings))
        while process.poll() is None:
            most = max(most, used() - before)
            time.sleep(0.005)
        result = harness.finish(process, 60)
        self.assertEqual(result.status, 0, result)
        self.assertGreater(most, 0, "Open MPI's own use was not seen")
        self.assertLess(most, MOST)


if __name__ == "__main__":
    unittest.main()
