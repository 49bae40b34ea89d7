"""Starts PyTorch's ranks; which PyTorch, and how it may be set, is a Configuration."""

import itertools
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import time
from dataclasses import dataclass

from cases import LEARNING_RATES
from machine import RunError, tail

WORKER = pathlib.Path(__file__).with_name("torch_worker.py")

# Memory that is freed stays with the process, and comes in huge pages where the kernel allows it: without this much
# of a step of a large network is page faults.
TUNED_MALLOC = "tuned malloc"
MALLOC_TUNABLES = ("glibc.malloc.hugetlb=1:glibc.malloc.mmap_threshold=8589934592:"
                   "glibc.malloc.trim_threshold=17179869184:glibc.malloc.top_pad=268435456")

# MKL multiplies with AVX2 on processors that are not Intel's. This answer to its question, preloaded, makes it take
# AVX-512: a sixth faster on Zen 4.
MKL_AS_ON_INTEL = "MKL as on Intel"
MKL_ANSWER = "int mkl_serv_intel_cpu_true(void) { return 1; }\n"

COMPILED = "compiled"  # by torch.compile

FP16_HOOK = "fp16 hook"  # gradients travel and are summed as fp16


@dataclass(frozen=True)
class Torch:
    python: str
    version: str
    onednn: str
    blas: str


@dataclass(frozen=True)
class Configuration:
    torch: Torch
    layout: str      # of images: NCHW or channels_last; empty for other inputs
    options: tuple   # of those above

    @property
    def text(self):
        return ", ".join(word for word in [f"PyTorch {self.torch.version}", self.layout, *self.options] if word)


def find_torch(pythons):
    """Every PyTorch that the given Pythons import, and those of the system; the newest first."""
    found = {}
    for python in [*pythons, shutil.which("python3"), "/usr/bin/python3"]:
        if python is None or not pathlib.Path(python).exists():
            continue
        result = subprocess.run([python, WORKER], capture_output=True, text=True)
        if result.returncode == 0:
            torch = Torch(python=str(python), **json.loads(result.stdout))
            found.setdefault((torch.version, torch.onednn, torch.blas), torch)
    return sorted(found.values(), key=lambda torch: version_key(torch.version), reverse=True)


def version_key(version):
    """2.15.0 is newer than 2.9.1."""
    return [int(part) if part.isdigit() else 0 for part in version.split(".")]


def configurations(torches, case, vendor, with_compiled):
    """What each PyTorch is tried with on a processor of this vendor; compiled, which takes minutes, only the first."""
    layouts = ["channels_last", "NCHW"] if case.is_convolutional else [""]
    found = []
    for torch in torches:
        options = [(TUNED_MALLOC,), ()]
        if torch.blas == "MKL" and vendor != "GenuineIntel" and not case.is_convolutional:
            options.append((TUNED_MALLOC, MKL_AS_ON_INTEL))
        if with_compiled and torch == torches[0]:
            options.append((TUNED_MALLOC, COMPILED))
        found += [Configuration(torch, *choice) for choice in itertools.product(layouts, options)]
    return found


def environment(options, folder, interface):
    """For a rank; what it preloads is made in the folder."""
    chosen = {**os.environ, "GLOO_SOCKET_IFNAME": interface, "PYTHONDONTWRITEBYTECODE": "1"}
    if TUNED_MALLOC in options:
        chosen["GLIBC_TUNABLES"] = MALLOC_TUNABLES
    if MKL_AS_ON_INTEL in options:
        library = f"{folder}/answer.so"
        subprocess.run(["cc", "-shared", "-fPIC", "-o", library, "-x", "c", "-"], input=MKL_ANSWER, text=True,
                       check=True)
        chosen["LD_PRELOAD"] = library
    return chosen


class TorchPeer:
    """PyTorch's ranks, on these CPUs, a list for each."""

    def __init__(self, configuration, cpus, threads, on_host=lambda rank: [], interface="lo"):
        """`on_host`: the words that start a command on the host of a rank."""
        self.configuration = configuration
        self._cpus = cpus
        self._threads = threads
        self._on_host = on_host
        self._interface = interface

    def run(self, case, precision, warmup, steps, timeout):
        """Step times and peak memory of rank 0, and the number of parameters; throws RunError."""
        request = {"model": case.peer or case.model, "batch": case.batch, "input": case.input, "classes": case.classes,
                   "optimizer": case.optimizer, "rate": LEARNING_RATES[case.optimizer], "precision": precision,
                   "layout": self.configuration.layout, "compiled": COMPILED in self.configuration.options,
                   "fp16_hook": FP16_HOOK in self.configuration.options,
                   "threads": self._threads, "ranks": len(self._cpus), "warmup": warmup, "steps": steps}
        with tempfile.TemporaryDirectory() as folder:
            request["rendezvous"] = f"{folder}/rendezvous"
            processes = self._start(request, environment(self.configuration.options, folder, self._interface))
            outputs = finish(processes, time.monotonic() + timeout)
        return json.loads(outputs[0].splitlines()[-1])

    def _start(self, request, variables):
        return [subprocess.Popen([*self._on_host(rank), "taskset", "-c", cpu, self.configuration.torch.python, WORKER,
                                  json.dumps({**request, "rank": rank})],
                                 env=variables, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
                for rank, cpu in enumerate(self._cpus)]


def finish(processes, deadline):
    """What each wrote; all are gone afterwards. A rank with a result has done its work, however PyTorch ends then."""
    outputs = []
    try:
        for process in processes:
            output, errors = process.communicate(timeout=max(1, deadline - time.monotonic()))
            if not output:
                raise RunError(tail(errors))
            outputs.append(output)
    except subprocess.TimeoutExpired:
        raise RunError("not done within its time") from None
    finally:
        for process in processes:
            process.kill()
            process.wait()
    return outputs
