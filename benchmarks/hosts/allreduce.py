"""All-reduce across hosts: `lockstep bench allreduce` on every one of them, and what the wire allows."""

import json
import pathlib
import tempfile

from lab import bits_per_second
from lockstep_run import output_of

SIZES = ("64K", "1M", "4M", "25M")
CODECS = ("none", "fp16")
OURS, THEIRS = "auto", "mpi/default"
TCP_SHARE = 0.95  # of the line rate, that a TCP connection carries in packets of 1500 bytes


def wire_seconds(ranks, nbytes, rate, share=TCP_SHARE):
    """2 (p-1)/p of the buffer cross every rank's link in each direction; no all-reduce sends less."""
    return 2 * (ranks - 1) / ranks * nbytes * 8 / (share * bits_per_second(rate))


def measure(program, lab, timeout):
    """A row for each size, algorithm and codec, as `allreduce.jsonl` has it; throws RunError."""
    rows = []
    for size in SIZES:
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            words = lab.command(program, ["bench", "allreduce", "--min", size, "--max", size, "--algorithms", OURS,
                                          "--codecs", ",".join(CODECS), "--seconds", 1, "--iterations", 5,
                                          "--rounds", 1, "--warmup", 1, "--output", folder])
            output_of(words, folder, timeout)
            rows += [json.loads(line) for line in (folder / "allreduce.jsonl").read_text().splitlines()]
    return [row for row in rows if row["algorithm"] in (OURS, THEIRS)]
