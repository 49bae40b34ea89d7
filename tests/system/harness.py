"""Runs the real programs under the real mpirun, for the tests of this folder."""

import json
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

BIN = pathlib.Path(os.environ["LOCKSTEP_BIN"])  # set by ctest: where train and lockstep were built
MPI_ENVIRONMENT = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "OMPI_MCA_hwloc_base_binding_policy": "none",
    "OMPI_MCA_mpi_yield_when_idle": "1",
}

# A small run with everything that could depend on ranks: dropout, augmentation, batch norm, an uneven last batch.
SMALL_RUN = {
    "data.name": "synthetic",
    "data.synthetic.train_samples": 150,
    "data.synthetic.test_samples": 21,
    "data.synthetic.height": 12,
    "data.synthetic.width": 12,
    "data.augment.crop_padding": 2,
    "data.augment.flip": "true",
    "model.name": "cnn",
    "model.hidden": "8,8,16",
    "model.batch_norm": "true",
    "model.dropout": 0.25,
    "global_batch": 40,
    "micro_batch": 8,
    "epochs": 2,
    "threads": 1,
    "optimizer.lr": 0.05,
    "schedule.name": "cosine",
    "schedule.warmup_epochs": 0.5,
    "comm.timeout_seconds": 8,
    "comm.start_timeout_seconds": 30,
    "metrics.hash_every": 1,
    "checkpoint.every_steps": 1,
    "checkpoint.keep": 2,
    "checkpoint.timeout_seconds": 20,
}


class Result:
    def __init__(self, status, output, seconds):
        self.status = status
        self.output = output
        self.seconds = seconds

    def __str__(self):
        return f"status {self.status} after {self.seconds:.1f} s:\n{self.output}"


def command(program, ranks, arguments):
    """ranks = 0: without mpirun."""
    words = [str(BIN / program), *map(str, arguments)]
    if ranks == 0:
        return words
    return ["mpirun", "-np", str(ranks), *words]


def start(program, ranks, arguments, environment=None):
    return subprocess.Popen(
        command(program, ranks, arguments),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        start_new_session=True,
        env={**os.environ, **MPI_ENVIRONMENT, **(environment or {})},
    )


def finish(process, timeout):
    begin = time.monotonic()
    try:
        output, _ = process.communicate(timeout=timeout)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        output, _ = process.communicate()
        raise AssertionError(f"still running after {timeout} s:\n{output}") from None
    return Result(process.returncode, output, time.monotonic() - begin)


def run(program, ranks, arguments, timeout=120, environment=None):
    return finish(start(program, ranks, arguments, environment), timeout)


def train_arguments(output, settings=None, *extra):
    words = ["--output", output]
    for field, value in {**SMALL_RUN, **(settings or {})}.items():
        words += ["--set", f"{field}={value}"]
    return words + list(extra)


def ranks_of(mpirun_pid):
    """The process ids of the ranks below an mpirun, rank 0 first."""
    found = {}
    for entry in pathlib.Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            parent = int((entry / "stat").read_text().rsplit(")", 1)[1].split()[1])
            if parent != mpirun_pid:
                continue
            variables = (entry / "environ").read_bytes().split(b"\0")
        except (OSError, ValueError):
            continue
        for variable in variables:
            if variable.startswith(b"OMPI_COMM_WORLD_RANK="):
                found[int(variable.split(b"=")[1])] = int(entry.name)
    return [found[rank] for rank in sorted(found)]


def read_metrics(output):
    with open(pathlib.Path(output) / "metrics.jsonl", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


MEASURED = {"wall_time", "samples_per_second", "memory_bytes", "peak_memory_bytes"}


def without_times(records):
    """Metrics without what the clock says, and the kernel of memory."""
    return [
        {key: value for key, value in record.items() if key not in MEASURED and not key.endswith("_seconds")}
        for record in records
    ]


class SystemTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="lockstep-test-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def train(self, ranks, name, settings=None, *extra, timeout=120, status=0):
        result = run("train", ranks, train_arguments(self.folder / name, settings, *extra), timeout)
        self.assertEqual(result.status, status, str(result))
        return result

    def weights(self, name):
        return (self.folder / name / "model.safetensors").read_bytes()

    def wait_for(self, condition, what, seconds=60):
        deadline = time.monotonic() + seconds
        while not condition():
            self.assertLess(time.monotonic(), deadline, f"never happened: {what}")
            time.sleep(0.02)
