"""All-reduce across hosts: `lockstep bench allreduce` on every one of them, and what the wire allows."""

import json
import pathlib
import subprocess
import tempfile

from lab import bits_per_second
from lockstep_run import error_of, run_to_end
from machine import RunError

SIZES = ("64K", "1M", "4M", "25M")
CODECS = ("none", "fp16")
OURS, THEIRS = "auto", "mpi/default"
TCP_SHARE = 0.95  # of the line rate, that a TCP connection carries in packets of 1500 bytes


def wire_seconds(ranks, nbytes, rate, share=TCP_SHARE):
    """2 (p-1)/p of the buffer cross every rank's link in each direction; no all-reduce sends less."""
    return 2 * (ranks - 1) / ranks * nbytes * 8 / (share * bits_per_second(rate))


def knows_codecs(program):
    text = subprocess.run([program, "bench", "allreduce", "--help"], capture_output=True, text=True).stdout
    return "--codecs" in text


def measure(program, lab, timeout):
    """A row for each size, algorithm and codec, as `allreduce.jsonl` has it; throws RunError."""
    codecs = ["--codecs", ",".join(CODECS)] if knows_codecs(program) else []
    rows = []
    for size in SIZES:
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            words = lab.command(program, ["bench", "allreduce", "--min", size, "--max", size, "--algorithms", OURS,
                                          *codecs, "--seconds", 1, "--iterations", 5, "--rounds", 1, "--warmup", 1,
                                          "--output", folder])
            with open(folder / "output.txt", "w+", encoding="utf-8") as output:
                status = run_to_end(words, output, timeout)
                output.seek(0)
                text = output.read()
            if status != 0:
                raise RunError(error_of(text))
            rows += [json.loads(line) for line in (folder / "allreduce.jsonl").read_text().splitlines()]
    return [row for row in rows if row["algorithm"] in (OURS, THEIRS)]
