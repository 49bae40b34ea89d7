#!/usr/bin/env python3
"""All-reduce on this machine: lockstep beside MPI's best algorithm and PyTorch's gloo, and what memory allows.

Usage: benchmarks/allreduce/measure.py [--ranks N] [--repeats N] [--seconds S] [--python PROGRAM] [--write-docs FILE]

For every size the sides take turns, `--repeats` times, each time in processes of its own; figures are the median over
these of each one's median, ratios are of one turn, with the least and the most. Lines go to build/allreduce.jsonl;
--write-docs puts the newest of each number of ranks into the page. After a release build, on a quiet machine.
"""

import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "benchmarks" / "peers"))

import machine  # noqa: E402
import page  # noqa: E402
import results  # noqa: E402
from lockstep_run import mpirun_environment  # noqa: E402

BIN = ROOT / "build" / "release" / "bin"
SIZES = (4, 1 << 10, 1 << 14, 1 << 16, 1 << 18, 1 << 20, 1 << 22, 25 << 20, 1 << 26, 1 << 28)
BOUND_SIZE = 25 << 20


def output_of(words):
    return subprocess.run(list(map(str, words)), check=True, capture_output=True, text=True, timeout=600,
                          env=mpirun_environment()).stdout


def lockstep_and_mpi(ranks, nbytes, seconds):
    """Microseconds of lockstep's `auto`, of MPI's fastest algorithm, and that one's name."""
    with tempfile.TemporaryDirectory() as folder:
        output_of(["mpirun", "-np", ranks, "--oversubscribe", BIN / "lockstep", "bench", "allreduce", "--min", nbytes,
                   "--max", nbytes, "--algorithms", "auto", "--seconds", seconds, "--output", folder])
        rows = [json.loads(line) for line in pathlib.Path(folder, "allreduce.jsonl").read_text().splitlines()]
    wrong = [row for row in rows if row["wrong"]]
    if wrong:
        raise SystemExit(f"wrong sums: {wrong}")
    ours = next(row for row in rows if row["algorithm"] == "auto")
    best = min((row for row in rows if row["algorithm"].startswith("mpi/")), key=lambda row: row["p50_us"])
    return ours["p50_us"], best["p50_us"], best["algorithm"].removeprefix("mpi/")


def gloo(python, ranks, nbytes, seconds):
    """Microseconds, or None where PyTorch is missing."""
    with tempfile.TemporaryDirectory() as folder:
        worker = [python, "-B", pathlib.Path(__file__).with_name("gloo_worker.py"), pathlib.Path(folder, "rendezvous")]
        running = [subprocess.Popen(list(map(str, [*worker, rank, ranks, nbytes, seconds])), text=True,
                                    stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) for rank in range(ranks)]
        texts = [process.communicate(timeout=600)[0] for process in running]
    return float(texts[0]) if all(process.returncode == 0 for process in running) else None


def update_rate():
    """Bytes per second that each of two processes gets of a += b, on a working set of the size of the bound."""
    line = next(line for line in output_of([BIN / "memory", "--processes", 2, "--pass", "update"]).splitlines()
                if line.startswith("| update"))
    return 1e9 * float(line.split("|")[6])


def bound_us(ranks, nbytes, rate):
    """Each rank reads its share of every operand and writes it into every result, all in place."""
    return 1e6 * 2 * nbytes / rate if ranks == 2 else None


def measure(arguments):
    rows = []
    for nbytes in SIZES:
        turns = []
        for _ in range(arguments.repeats):
            ours, mpi, name = lockstep_and_mpi(arguments.ranks, nbytes, arguments.seconds)
            turns.append({"lockstep": ours, "mpi": mpi, "mpi_algorithm": name,
                          "gloo": gloo(arguments.python, arguments.ranks, nbytes, arguments.seconds)})
            if nbytes == BOUND_SIZE:
                turns[-1]["bound"] = bound_us(arguments.ranks, nbytes, update_rate())
        rows.append({"bytes": nbytes, "turns": turns})
        print(row_text(rows[-1]), flush=True)
    return {"ranks": arguments.ranks, "rows": rows, "machine": machine.describe(),
            "command": f"benchmarks/allreduce/measure.py --ranks {arguments.ranks} --repeats {arguments.repeats} "
                       f"--seconds {arguments.seconds:g}"}


def size_text(nbytes):
    for unit, name in ((1 << 20, "MiB"), (1 << 10, "KiB")):
        if nbytes >= unit:
            return f"{nbytes // unit} {name}"
    return f"{nbytes} B"


def ratio_text(turns, side):
    ratios = [turn[side] / turn["lockstep"] for turn in turns if turn[side]]
    return "{:.2f} ({:.2f} to {:.2f})".format(*results.spread(ratios)) if ratios else ""


def row_text(row):
    turns = row["turns"]
    ours = statistics.median(turn["lockstep"] for turn in turns)
    mpi = statistics.median(turn["mpi"] for turn in turns)
    names = ", ".join(sorted({turn["mpi_algorithm"] for turn in turns}))
    cells = [size_text(row["bytes"]), page.number(ours), f"{row['bytes'] / ours / 1000:.2f}",
             f"{page.number(mpi)} ({names})", ratio_text(turns, "mpi"), ratio_text(turns, "gloo")]
    return "| " + " | ".join(cells) + " |"


def bound_text(record):
    turns = [turn for row in record["rows"] for turn in row["turns"] if turn.get("bound")]
    if not turns:
        return ""
    shares = [100 * turn["bound"] / turn["lockstep"] for turn in turns]
    return ("\n{}: memory allows {} us (2 n bytes for each rank, at the rate of `a += b` in two processes on as much "
            "memory), of which lockstep reaches {:.0f} % ({:.0f} to {:.0f}).\n").format(
                size_text(BOUND_SIZE), page.number(statistics.median(turn["bound"] for turn in turns)),
                *results.spread(shares))


def table(record):
    about = record["machine"]
    head = ["| bytes | lockstep [us] | [GB/s] | fastest of MPI_Allreduce [us] | times as fast | as gloo |",
            "|---|---|---|---|---|---|"]
    return (f"{record['ranks']} ranks on {about['cores']} cores of {about['cpu']}; `{record['command']}`:\n\n"
            + "\n".join([*head, *map(row_text, record["rows"])]) + "\n" + bound_text(record))


def newest(path):
    """The last record of each number of ranks."""
    return {record["ranks"]: record for record in map(json.loads, path.read_text(encoding="utf-8").splitlines())}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=0.2, help="of each algorithm, for each size")
    parser.add_argument("--python", default="python3", help="that finds PyTorch, for gloo")
    parser.add_argument("--results", type=pathlib.Path, default=ROOT / "build" / "allreduce.jsonl")
    parser.add_argument("--write-docs", type=pathlib.Path, help="measures nothing")
    arguments = parser.parse_args()
    if not arguments.write_docs:
        results.append(arguments.results, measure(arguments))
        return
    text = "\n".join(map(table, newest(arguments.results).values()))
    path = arguments.write_docs
    path.write_text(page.replace_measured(path.read_text(encoding="utf-8"), text), encoding="utf-8")


if __name__ == "__main__":
    main()
