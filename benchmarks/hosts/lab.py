"""Hosts on this machine, made by scripts/netlab, and how programs are started on them: a rank on each."""

import os
import pathlib
import re
import signal
import subprocess
import sys

NETLAB = pathlib.Path(__file__).resolve().parents[2] / "scripts" / "netlab"
INTERFACE = "eth0"


def bits_per_second(rate):
    """Of 1gbit, as tc writes it."""
    found = re.fullmatch(r"(\d+)(kbit|mbit|gbit)", rate)
    if not found:
        raise SystemExit(f"--rate: expected a number and kbit, mbit or gbit, got {rate}")
    return int(found[1]) * {"kbit": 10**3, "mbit": 10**6, "gbit": 10**9}[found[2]]


class Lab:
    """While a `with` lasts, there are hosts; SIGTERM ends it, too."""

    def __init__(self, hosts, rate):
        self.hosts = hosts
        self._rate = rate
        self._words = [str(NETLAB), "--lab", f"bench{os.getpid()}"]

    def __enter__(self):
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
        result = subprocess.run([*self._words, "up", str(self.hosts), "--rate", self._rate], capture_output=True,
                                text=True)
        if result.returncode != 0:
            raise SystemExit(result.stderr.strip())
        return self

    def __exit__(self, *_):
        subprocess.run([*self._words, "down"], check=True)

    def command(self, program, arguments, cpus=()):
        """mpirun, which is killed where it does not end when told to; the script gives every rank a core."""
        return ["timeout", "-k", "5", "3600", *self._words, "run", "--", str(program), *map(str, arguments)]

    def on_host(self, number):
        return [*self._words, "exec", str(number)]
