"""What trains across hosts: cases, and the programs and settings that are compared in each."""

import dataclasses
import os
import statistics
import time

import machine
from cases import Case
from lab import INTERFACE
from lockstep_run import Lockstep
from machine import RunError
from torch_peer import FP16_HOOK, MKL_AS_ON_INTEL, TUNED_MALLOC, Configuration, TorchPeer

# The first has many weights for its arithmetic, so that the wire is the limit; the last the opposite.
CASES = {
    "mlp": Case("mlp", 64, (1, 28, 28), 10, settings={"model.hidden": "4096,4096,1024", "model.batch_norm": "false"},
                peer="mlp_wide"),
    "resnet18-4": Case("resnet18", 4, (3, 224, 224), 1000),
    "resnet18-32": Case("resnet18", 32, (3, 224, 224), 1000),
}

# lockstep's name on the page, and its settings.
LOCKSTEP = {
    "fp32": {},
    "fp16": {"comm.codec": "FP16"},
    "fp32, not overlapped": {"comm.overlap": "false"},
    "fp16, not overlapped": {"comm.codec": "FP16", "comm.overlap": "false"},
}


class Side:
    """A program with settings of its own, which `run` adds to a case."""

    def __init__(self, name, runner, settings=None):
        self.name = name
        self._runner = runner
        self._settings = settings or {}

    def run(self, case, warmup, steps, timeout):
        """As a peer's; throws RunError."""
        case = dataclasses.replace(case, settings={**case.settings, **self._settings})
        return self._runner.run(case, "fp32", warmup, steps, timeout)


def cpus_in_turns(ranks):
    """Hosts share the cores of this machine: of a core's ranks, each has its part."""
    cores = machine.first_of_each_core(sorted(os.sched_getaffinity(0)), machine.siblings)
    return [str(cores[rank % len(cores)]) for rank in range(ranks)]


def lockstep_sides(program, lab, names=tuple(LOCKSTEP), settings=None):
    runner = Lockstep(program, cpus_in_turns(lab.hosts), 1, lab.command)
    return [Side(f"lockstep {name}", runner, {**LOCKSTEP[name], **(settings or {})}) for name in names]


def alone(program):
    """One rank, that has nobody to wait for."""
    return Side("lockstep alone", Lockstep(program, cpus_in_turns(1), 1))


def torch_sides(torch, case, lab, vendor):
    """The newest PyTorch, set as it was fastest on one host (benchmarks/peers), without and with its fp16 hook."""
    options = [TUNED_MALLOC]
    if torch.blas == "MKL" and vendor != "GenuineIntel" and not case.is_convolutional:
        options.append(MKL_AS_ON_INTEL)
    layout = "channels_last" if case.is_convolutional else ""
    sides = []
    for name, more in (("PyTorch", []), ("PyTorch, fp16 hook", [FP16_HOOK])):
        configuration = Configuration(torch, layout, (*options, *more))
        sides.append(Side(name, TorchPeer(configuration, cpus_in_turns(lab.hosts), 1, lab.on_host, INTERFACE)))
    return sides


def run_rounds(sides, case, steps, count, deadline, log=None):
    """(median seconds of a step by side, one for each round; why a side has none). The sides take turns, until the
    deadline; one that fails is left out from then on."""
    seconds, failed = {side.name: [] for side in sides}, {}
    for number in range(count):
        order = sides if number % 2 == 0 else list(reversed(sides))
        for side in order:
            left = deadline - time.monotonic()
            if side.name in failed or left <= 0:
                continue
            try:
                seconds[side.name].append(statistics.median(side.run(case, 2, steps, left)["step_seconds"]))
            except RunError as error:
                failed[side.name] = str(error)
            print(f"  {side.name}: {failed.get(side.name) or f'{1000 * seconds[side.name][-1]:.0f} ms'}", file=log, flush=True)
    return {name: values for name, values in seconds.items() if values}, failed
