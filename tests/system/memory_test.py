"""A long run holds no more memory than a short one."""

import unittest

import harness

MOST_GROWTH = 1 << 20  # bytes


class Memory(harness.SystemTest):
    """A small network on pictures as Fashion-MNIST's. After a thousand steps everything that is kept is there: two
    epochs, evaluations and hashes of the weights are done."""

    SETTINGS = {
        "model.hidden": "4,4,8", "data.synthetic.height": 28, "data.synthetic.width": 28,
        "data.synthetic.train_samples": 2000, "data.synthetic.test_samples": 4, "global_batch": 4, "micro_batch": 2,
        "epochs": 0, "max_steps": 10000, "schedule.name": "constant", "schedule.warmup_epochs": 0,
        "optimizer.lr": 0.001, "metrics.every": 100, "metrics.hash_every": 500, "checkpoint.every_steps": 0,
        "evaluation.every_epochs": 1,
    }

    def check_growth(self, ranks):
        self.train(ranks, "run", self.SETTINGS, timeout=850)
        steps = [line for line in harness.read_metrics(self.folder / "run") if "loss" in line]
        memory = {line["step"]: line["memory_bytes"] for line in steps}
        self.assertEqual(max(memory), 10000)
        self.assertLess(memory[10000] - memory[1000], MOST_GROWTH, memory)

    def test_does_not_grow_over_ten_thousand_steps(self):
        self.check_growth(0)

    def test_does_not_grow_where_ranks_talk(self):
        self.check_growth(2)


if __name__ == "__main__":
    unittest.main()
