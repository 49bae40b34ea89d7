#!/usr/bin/env python3
"""lockstep against PyTorch's DistributedDataParallel: the same models, batches, ranks and threads, on CPUs.

For each case a short run of every configuration of PyTorch finds the fastest. Then follow pairs of runs, one of
lockstep and one of that configuration, in turns. docs/performance.md says what is measured and how to read it.

Examples, after a release build:
  benchmarks/peers/measure.py                                        all cases, fp32 and bf16
  benchmarks/peers/measure.py --only resnet50,gpt2 --precision fp32  some of them: their new results replace old ones
  benchmarks/peers/measure.py --python venv/bin/python               with the PyTorch of that environment, too
  benchmarks/peers/measure.py --write-docs docs/performance.md       nothing but the page's table
"""

import argparse
import dataclasses
import datetime
import math
import os
import pathlib
import statistics
import subprocess
import time

import machine
import page
import results
from cases import CASES
from lockstep_run import Lockstep
from machine import RunError
from torch_peer import TorchPeer, configurations, find_torch

ROOT = pathlib.Path(__file__).resolve().parents[2]
FEWEST_STEPS, MOST_STEPS = 4, 200


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    models = [case.model for case in CASES]
    parser.add_argument("--only", default=",".join(models), metavar="CASE,...", help="of " + ", ".join(models))
    parser.add_argument("--precision", default="fp32,bf16", help="default fp32,bf16")
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--threads", type=int, default=1, help="per rank")
    parser.add_argument("--pairs", type=int, default=5, help="pairs of runs, default 5")
    parser.add_argument("--seconds", type=float, default=15, help="timed part of a run, about; default 15")
    parser.add_argument("--budget", type=float, default=600,
                        help="seconds for a case in one precision, of which finding PyTorch's best configuration "
                             "takes half at most; default 600")
    parser.add_argument("--python", action="append", default=[], help="one that imports torch; may be repeated")
    parser.add_argument("--compile", action="store_true", help="also torch.compile; needs a larger --budget")
    parser.add_argument("--train", type=pathlib.Path, default=ROOT / "build/release/bin/train",
                        help="lockstep's program")
    parser.add_argument("--results", type=pathlib.Path, default=ROOT / "build/peers.jsonl",
                        help="where lines are added")
    parser.add_argument("--write-docs", type=pathlib.Path, metavar="PAGE", help="write the table of the page, and end")
    arguments = parser.parse_args()
    if unknown := set(arguments.only.split(",")) - set(models):
        parser.error(f"--only: no case {', '.join(sorted(unknown))}")
    if unknown := set(arguments.precision.split(",")) - {"fp32", "bf16"}:
        parser.error(f"--precision: expected fp32 or bf16, got {', '.join(sorted(unknown))}")
    return arguments


def timed_run(side, case, precision, steps, deadline):
    """Some more steps come first, which do not count."""
    return side.run(case, precision, max(2, steps // 5), steps, deadline - time.monotonic())


def scan(peers, case, precision, deadline):
    """A short run of each, until the deadline: (result by peer, in words why there is none by peer)."""
    found, failed = {}, {}
    for peer in peers:
        name = peer.configuration.text
        try:
            found[peer] = timed_run(peer, case, precision, case.scan_steps, deadline)
            print(f"  {name}: {1000 * statistics.median(found[peer]['step_seconds']):.1f} ms", flush=True)
        except RunError as error:
            failed[peer] = str(error)
            print(f"  {name}: {error}", flush=True)
    return found, failed


def run_pairs(sides, case, precision, steps, count, deadline):
    """`count` rounds of all sides, in turns, as long as there is time; who begins changes from round to round."""
    rounds = []
    for number in range(count):
        order = list(sides) if number % 2 == 0 else list(reversed(sides))
        try:
            done = {side: timed_run(side, case, precision, steps, deadline) for side in order}
        except RunError as error:
            print(f"  pair {number + 1}: {error}", flush=True)
            break
        rounds.append([done[side] for side in sides])
    return rounds


def items_per_step(case, arguments):
    return case.items[1] * case.batch * arguments.ranks


def side_record(runs, case, arguments):
    """What a side did in all its runs."""
    seconds = [statistics.median(run["step_seconds"]) for run in runs]
    return {"step_seconds": seconds, "items_per_second": items_per_step(case, arguments) / statistics.median(seconds),
            "memory_bytes": max(run["memory_bytes"] for run in runs), "parameters": runs[0]["parameters"]}


def steps_for(seconds, step_seconds):
    return min(MOST_STEPS, max(FEWEST_STEPS, math.ceil(seconds / step_seconds)))


def measure(case, precision, lockstep, peers, arguments):
    """The record of a case, without what all of them have in common."""
    deadline = time.monotonic() + arguments.budget
    found, failed = scan(peers, case, precision, time.monotonic() + arguments.budget / 2)
    record = {"scan": {peer.configuration.text: side_record([run], case, arguments) for peer, run in found.items()},
              "failed": {peer.configuration.text: text for peer, text in failed.items()}}
    if not found:
        return record
    best = min(found, key=lambda peer: statistics.median(found[peer]["step_seconds"]))
    record |= {"items_per_step": items_per_step(case, arguments),
               "configuration": {**dataclasses.asdict(best.configuration), "text": best.configuration.text},
               "torch": record["scan"][best.configuration.text]}
    try:
        timed_run(lockstep, case, precision, case.scan_steps, deadline)
        # The peak that a profile has is of single precision.
        record["bound"] = lockstep.profile(case, deadline - time.monotonic()) if precision == "fp32" else None
    except RunError as error:
        return {**record, "unavailable": str(error)}
    steps = steps_for(arguments.seconds, statistics.median(found[best]["step_seconds"]))
    rounds = run_pairs((lockstep, best), case, precision, steps, arguments.pairs, deadline)
    return {**record, **comparison(rounds, case, arguments), "steps": steps}


def comparison(rounds, case, arguments):
    """Both sides and their ratios."""
    if not rounds:
        return {"unavailable": "no pair of runs was done within the budget"}
    lockstep, torch = (side_record(runs, case, arguments) for runs in zip(*rounds))
    if lockstep["parameters"] != torch["parameters"]:
        raise SystemExit(f"{case.model}: {lockstep['parameters']} parameters in lockstep, {torch['parameters']} in "
                         "PyTorch: not the same model")
    return {"lockstep": lockstep, "torch": torch,
            "ratios": results.speed_ratios(zip(lockstep["step_seconds"], torch["step_seconds"]))}


def describe_lockstep(program):
    """Version, commit of the source tree, and the oneDNN that the program loads."""
    version = subprocess.run([program, "--version"], capture_output=True, text=True, check=True).stdout.strip()
    commit = subprocess.run(["git", "-C", ROOT, "describe", "--always", "--dirty"], capture_output=True, text=True)
    linked = subprocess.run(["ldd", program], capture_output=True, text=True, check=True).stdout
    libraries = [line.split()[2] for line in linked.splitlines() if "libdnnl" in line]
    return {"version": version, "commit": commit.stdout.strip(),
            "onednn": os.path.basename(os.path.realpath(libraries[0])) if libraries else "none"}


def command_text(arguments):
    """What decides the figures, as options; not which cases were asked for, nor where programs are."""
    words = [f"--{name} {getattr(arguments, name):g}" for name in ("ranks", "threads", "pairs", "seconds", "budget")]
    return " ".join(["benchmarks/peers/measure.py", *words, *(["--compile"] if arguments.compile else [])])


def report(record):
    if "ratios" not in record:
        print(f"  {record.get('unavailable', 'no PyTorch could run it')}", flush=True)
        return
    middle, least, most = results.spread(record["ratios"])
    print(f"  lockstep {record['lockstep']['items_per_second']:.1f} {record['items']}/s, PyTorch "
          f"{record['torch']['items_per_second']:.1f}: {middle:.2f} times as fast ({least:.2f} to {most:.2f}), "
          f"{record['torch']['parameters']} parameters in both", flush=True)


def main():
    arguments = parse_arguments()
    if arguments.write_docs:
        page.write(arguments.write_docs, results.latest(arguments.results))
        return
    cpus = machine.cpus_by_rank(arguments.ranks, arguments.threads)
    torches = find_torch(arguments.python)
    if not torches:
        raise SystemExit("no Python here imports torch; --python names one that does")
    lockstep = Lockstep(arguments.train, cpus, arguments.threads)
    common = {"ranks": arguments.ranks, "threads": arguments.threads, "machine": machine.describe(),
              "program": describe_lockstep(arguments.train), "torches": [dataclasses.asdict(one) for one in torches],
              "command": command_text(arguments)}
    for case in (case for case in CASES if case.model in arguments.only.split(",")):
        peers = [TorchPeer(configuration, cpus, arguments.threads)
                 for configuration in configurations(torches, case, machine.cpu_field("vendor_id"), arguments.compile)]
        for precision in arguments.precision.split(","):
            print(f"{case.text}, {precision}", flush=True)
            record = {"case": case.model, "text": case.text, "precision": precision, "items": case.items[0], **common,
                      "date": datetime.date.today().isoformat(),
                      **measure(case, precision, lockstep, peers, arguments)}
            results.append(arguments.results, record)
            report(record)


if __name__ == "__main__":
    main()
