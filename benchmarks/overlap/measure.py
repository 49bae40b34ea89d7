#!/usr/bin/env python3
"""How much of the communication is hidden behind backward: steps of one rank alone, of ranks whose gradients travel
during backward, and of ranks whose gradients travel after it (comm.overlap: false).

The ranks are on hosts of their own (scripts/netlab; needs root), so that the wire is the limit. Beside the times, the
share that is hidden: what overlap takes off a step, of what communication adds to it without.

Example, after a release build:
  benchmarks/overlap/measure.py --case resnet18-32 --hosts 2 --rate 1gbit
"""

import argparse
import pathlib
import statistics
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path += [str(ROOT / "benchmarks" / name) for name in ("hosts", "peers")]

import sides  # noqa: E402
import tables  # noqa: E402
from lab import Lab  # noqa: E402


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--case", default=",".join(sides.CASES), metavar="CASE,...",
                        help="of " + ", ".join(sides.CASES))
    parser.add_argument("--hosts", type=int, default=2)
    parser.add_argument("--rate", default="1gbit", help="of every link, default 1gbit")
    parser.add_argument("--codec", choices=("fp32", "fp16"), default="fp32", help="how gradients travel")
    parser.add_argument("--progress", choices=("AUTO", "CALLER", "THREAD"), default="AUTO", help="comm.progress")
    parser.add_argument("--rounds", type=int, default=3, help="default 3")
    parser.add_argument("--steps", type=int, default=6, help="timed steps of a run, default 6")
    parser.add_argument("--budget", type=float, default=240, help="seconds for a case, default 240")
    parser.add_argument("--programs", type=pathlib.Path, default=ROOT / "build/release/bin",
                        help="where train is")
    arguments = parser.parse_args()
    if unknown := set(arguments.case.split(",")) - set(sides.CASES):
        parser.error(f"--case: no case {', '.join(sorted(unknown))}")
    return arguments


def main():
    arguments = parse_arguments()
    program = arguments.programs / "train"
    names = [arguments.codec, f"{arguments.codec}, not overlapped"]
    print("| case | alone, ms | overlapped, ms | not overlapped, ms | hidden |\n|---|---|---|---|---|", flush=True)
    for name in arguments.case.split(","):
        case = sides.CASES[name]
        with Lab(arguments.hosts, arguments.rate) as lab:
            compared = [sides.alone(program),
                        *sides.lockstep_sides(program, lab, names, {"comm.progress": arguments.progress})]
            seconds, failed = sides.run_rounds(compared, case, arguments.steps, arguments.rounds,
                                               time.monotonic() + arguments.budget, log=sys.stderr)
        if failed or len(seconds) < len(compared):
            raise SystemExit(f"{name}: {failed or 'not done within its budget'}")
        times = [statistics.median(seconds[side.name]) for side in compared]
        share = tables.hidden_share(*times)
        hidden = "nothing to hide" if share is None else f"{100 * share:.0f} %"
        print(f"| {case.text} | {' | '.join(map(tables.milliseconds, times))} | {hidden} |", flush=True)


if __name__ == "__main__":
    main()
