"""The machine: what it is, which CPUs each rank is bound to, and what programs say that fail on it."""

import os
import pathlib

NOTABLE_FLAGS = ("avx2", "avx512f", "avx512_vnni", "avx512_bf16", "amx_tile", "amx_bf16")


def parse_cpu_list(text):
    """The numbers of a list such as 0-2,8."""
    cpus = []
    for part in text.strip().split(","):
        first, _, last = part.partition("-")
        cpus += range(int(first), int(last or first) + 1)
    return cpus


def first_of_each_core(cpus, siblings_of):
    """Those CPUs that are the first hardware thread of their core, of the allowed ones."""
    return [cpu for cpu in cpus if min(set(siblings_of(cpu)) & set(cpus)) == cpu]


def siblings(cpu):
    path = pathlib.Path(f"/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list")
    return parse_cpu_list(path.read_text(encoding="ascii"))


def cpus_by_rank(ranks, threads):
    """A list of CPUs, as taskset takes it, for each rank; every thread has a core of its own."""
    cores = first_of_each_core(sorted(os.sched_getaffinity(0)), siblings)
    if ranks * threads > len(cores):
        raise SystemExit(f"{ranks} ranks x {threads} threads need as many cores, and there are {len(cores)}")
    return [",".join(map(str, cores[rank * threads:(rank + 1) * threads])) for rank in range(ranks)]


def cpu_field(name):
    with open("/proc/cpuinfo", encoding="utf-8") as lines:
        return next(line.split(":", 1)[1].strip() for line in lines if line.startswith(name))


def describe():
    memory = next(line for line in open("/proc/meminfo", encoding="ascii") if line.startswith("MemTotal"))
    flags = set(cpu_field("flags").split())
    return {
        "cpu": cpu_field("model name"),
        "cores": len(first_of_each_core(sorted(os.sched_getaffinity(0)), siblings)),
        "flags": [flag for flag in NOTABLE_FLAGS if flag in flags],
        "memory_bytes": 1024 * int(memory.split()[1]),
    }


class RunError(Exception):
    """A program refused, failed or took too long; the text is its own."""


def tail(text, lines=3):
    """The last lines that say something, in one."""
    return " / ".join([line.strip() for line in text.splitlines() if line.strip()][-lines:])
