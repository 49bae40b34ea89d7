#!/usr/bin/env python3
"""lockstep across hosts: all-reduce against the wire, and training beside PyTorch's DistributedDataParallel (gloo).

The hosts are network namespaces of this machine (scripts/netlab; needs root), with links of a given rate and a rank of
one thread on each; more hosts than cores share them. docs/hosts.md says how to read the result.

Examples, after a release build:
  benchmarks/hosts/measure.py --python venv/bin/python        everything, in half an hour
  benchmarks/hosts/measure.py --only mlp --hosts 2            a part: its new results replace old ones
  benchmarks/hosts/measure.py --write-docs docs/hosts.md      nothing but the page's tables
"""

import argparse
import dataclasses
import datetime
import os
import pathlib
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "benchmarks" / "peers"))

import allreduce  # noqa: E402
import machine  # noqa: E402
import results  # noqa: E402
import sides  # noqa: E402
import tables  # noqa: E402
from lab import Lab  # noqa: E402
from machine import RunError  # noqa: E402
from torch_peer import find_torch  # noqa: E402

ALLREDUCE = "allreduce"
PARTS = (ALLREDUCE, *sides.CASES)


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default=",".join(PARTS), metavar="PART,...", help="of " + ", ".join(PARTS))
    parser.add_argument("--hosts", default="2,4", metavar="N,...", help="default 2,4")
    parser.add_argument("--rate", default="1gbit", help="of every link, default 1gbit")
    parser.add_argument("--rounds", type=int, default=3, help="in which all sides of a case take turns, default 3")
    parser.add_argument("--steps", type=int, default=6, help="timed steps of a run, default 6")
    parser.add_argument("--budget", type=float, default=420, help="seconds for a part on so many hosts, default 420")
    parser.add_argument("--python", action="append", default=[], help="one that imports torch; may be repeated")
    parser.add_argument("--programs", type=pathlib.Path, default=ROOT / "build/release/bin",
                        help="where train and lockstep are")
    parser.add_argument("--results", type=pathlib.Path, default=ROOT / "build/hosts.jsonl", help="where lines are added")
    parser.add_argument("--write-docs", type=pathlib.Path, metavar="PAGE", help="write the tables of the page, and end")
    arguments = parser.parse_args()
    if unknown := set(arguments.only.split(",")) - set(PARTS):
        parser.error(f"--only: no part {', '.join(sorted(unknown))}")
    return arguments


def measure_allreduce(lab, arguments):
    try:
        rows = allreduce.measure(arguments.programs / "lockstep", lab, arguments.budget / 2)
        return {"rows": rows}
    except RunError as error:
        return {"unavailable": str(error)}


def measure_training(name, lab, torch, arguments):
    case, program = sides.CASES[name], arguments.programs / "train"
    compared = [sides.alone(program), *sides.lockstep_sides(program, lab)]
    if torch:
        compared += sides.torch_sides(torch, case, lab, machine.cpu_field("vendor_id"))
    seconds, failed = sides.run_rounds(compared, case, arguments.steps, arguments.rounds,
                                       time.monotonic() + arguments.budget)
    return {"text": case.text, "seconds": seconds, "failed": failed}


def conditions(arguments, torch):
    version = subprocess.run([arguments.programs / "train", "--version"], capture_output=True, text=True, check=True)
    commit = subprocess.run(["git", "-C", ROOT, "describe", "--always", "--dirty"], capture_output=True, text=True)
    words = [f"--{name} {getattr(arguments, name)}" for name in ("rate", "rounds", "steps")]
    return {"machine": machine.describe(), "rate": arguments.rate, "date": datetime.date.today().isoformat(),
            "program": f"{version.stdout.strip()}, commit {commit.stdout.strip()}",
            "torch": dataclasses.asdict(torch) if torch else None,
            "command": " ".join(["benchmarks/hosts/measure.py", *words])}


def main():
    arguments = parse_arguments()
    if arguments.write_docs:
        tables.write(arguments.write_docs, tables.latest(arguments.results))
        return
    torch = next(iter(find_torch(arguments.python)), None)
    if not torch:
        print("no Python here imports torch; --python names one that does", flush=True)
    common = conditions(arguments, torch)
    for part in arguments.only.split(","):
        for hosts in map(int, arguments.hosts.split(",")):
            print(f"{part}, {hosts} hosts, {arguments.rate}, load {os.getloadavg()[0]:.1f}", flush=True)
            with Lab(hosts, arguments.rate) as lab:
                found = (measure_allreduce(lab, arguments) if part == ALLREDUCE else
                         measure_training(part, lab, torch, arguments))
            record = {"part": part, "hosts": hosts, **common, **found}
            results.append(arguments.results, record)
            print(tables.of_record(record), flush=True)


if __name__ == "__main__":
    main()
