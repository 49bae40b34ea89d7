"""Runs lockstep's `train` under mpirun and reads what it left: step times, memory, parameters, a profile."""

import json
import math
import os
import pathlib
import random
import re
import struct
import subprocess
import tempfile

from cases import lockstep_settings
from machine import RunError, tail

SKIPPED_STEPS, PROFILED_STEPS = 1, 3


def mpirun_environment():
    if os.geteuid() != 0:  # Open MPI refuses to run as root unless both are set
        return dict(os.environ)
    return {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


def command(program, arguments, cpus):
    """Every rank on its own CPUs, as PyTorch's are."""
    words = ["mpirun", "--bind-to", "none"]
    for rank, cpu in enumerate(cpus):
        words += [":"] if rank > 0 else []
        words += ["-np", "1", "taskset", "-c", cpu, str(program), *arguments]
    return words


def write_tokens(folder, case, ranks, steps):
    """Token files of GPT-2's vocabulary (data/formats/tokens.h)."""
    length = case.input[0]
    draw = random.Random(1)
    for name, samples in (("train", steps * ranks * case.batch), ("val", 1)):
        count = samples * length + 1
        tokens = [draw.randrange(case.classes) for _ in range(count)]
        header = struct.pack("<256i", 20240520, 1, count, *[0] * 253)
        (folder / f"{name}.bin").write_bytes(header + struct.pack(f"<{count}H", *tokens))


def arguments_for(folder, case, precision, ranks, threads, steps):
    settings = lockstep_settings(case, precision, ranks, threads, steps)
    if not case.is_image:
        write_tokens(folder, case, ranks, steps)
        settings["data.path"] = folder
    recipe = folder / "defaults.textproto"
    recipe.write_text("", encoding="utf-8")
    words = [str(recipe), "--output", str(folder / "run")]
    for name, value in settings.items():
        words += ["--set", f"{name}={value}"]
    return words


def read_records(folder):
    path = folder / "run" / "metrics.jsonl"
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    return [record for record in map(json.loads, lines) if "loss" in record]


def step_seconds(records, warmup):
    """Time from the end of one step to the end of the next, without the first ones."""
    ends = [record["wall_time"] for record in records]
    return [end - start for start, end in zip(ends, ends[1:])][warmup - 1:]


def count_parameters(path):
    """Trained numbers of a safetensors file: all but the running statistics of normalisations."""
    with open(path, "rb") as weights:
        size = struct.unpack("<Q", weights.read(8))[0]
        header = json.loads(weights.read(size))
    return sum(math.prod(tensor["shape"]) for name, tensor in header.items()
               if name != "__metadata__" and not re.search(r"running_mean|running_var|num_batches_tracked", name))


def error_of(text):
    """lockstep's message, on one line and without the rank."""
    found = re.search(r"error: (.*(?:\n +.*)*)", re.sub(r"^rank \d+: ", "", text, flags=re.MULTILINE))
    return " ".join(found[1].split()) if found else tail(text)


def fallback_of(text):
    """Why the run was in FP32 although another precision was asked for, as its log says it; None where it was not."""
    found = re.search(r"precision: (.*computing in FP32)", text)
    return found[1] if found else None


def run_to_end(words, output, timeout):
    """The exit status. mpirun that is terminated ends its ranks, too."""
    process = subprocess.Popen(words, env=mpirun_environment(), stdout=output, stderr=subprocess.STDOUT)
    try:
        return process.wait(max(1, timeout))
    except subprocess.TimeoutExpired:
        raise RunError("not done within its time") from None
    finally:
        process.terminate()
        process.wait()


def output_of(words, folder, timeout):
    """All that it prints; throws RunError with its own words where it fails."""
    with open(folder / "output.txt", "w+", encoding="utf-8") as output:
        status = run_to_end(words, output, timeout)
        output.seek(0)
        text = output.read()
    if status != 0:
        raise RunError(error_of(text))
    return text


class Lockstep:
    """lockstep's `train`, on these CPUs, a list for each rank."""

    def __init__(self, program, cpus, threads, command=command):
        """`command`: what starts the ranks, as the function of this name."""
        self._program = program
        self._cpus = cpus
        self._threads = threads
        self._command = command

    def run(self, case, precision, warmup, steps, timeout):
        """Step times and peak memory of rank 0, without the checkpoint of the end, and the number of parameters;
        throws RunError."""
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            self._train(folder, case, precision, warmup + steps, timeout)
            records = read_records(folder)
            return {"step_seconds": step_seconds(records, warmup),
                    "memory_bytes": records[-1]["peak_memory_bytes"],
                    "parameters": count_parameters(folder / "run" / "model.safetensors")}

    def profile(self, case, timeout):
        """What `train --profile` finds out about a step and the machine, or None where it does not exist."""
        help_text = subprocess.run([self._program, "--help"], capture_output=True, text=True, check=True).stdout
        if "--profile" not in help_text:
            return None
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            trace = folder / "trace.json"
            self._train(folder, case, "fp32", SKIPPED_STEPS + PROFILED_STEPS, timeout,
                        ["--profile", str(trace), "--profile_skip", str(SKIPPED_STEPS),
                         "--profile_steps", str(PROFILED_STEPS)])
            return json.loads(trace.read_text(encoding="utf-8"))["lockstep"]

    def _train(self, folder, case, precision, steps, timeout, extra=()):
        arguments = arguments_for(folder, case, precision, len(self._cpus), self._threads, steps)
        words = self._command(self._program, [*arguments, *extra], self._cpus)
        text = output_of(words, folder, timeout)
        if reason := fallback_of(text):
            raise RunError(reason)
