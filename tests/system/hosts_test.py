"""Across hosts (scripts/netlab): the same bits, and no fault of a link or a host leaves a rank waiting."""

import os
import pathlib
import re
import subprocess
import tempfile
import time
import unittest

from harness import BIN, MPI_ENVIRONMENT, Result, SystemTest, read_metrics, train_arguments, without_times

NETLAB = pathlib.Path(__file__).resolve().parents[2] / "scripts" / "netlab"
NO_PERMISSION = 77  # its status where the machine has no namespaces for us
TIMEOUT = 4         # comm.timeout_seconds
ENDLESS = {"epochs": 1000000, "metrics.hash_every": 0, "checkpoint.every_steps": 0, "checkpoint.every_epochs": 0,
           "evaluation.every_epochs": 0, "metrics.tensorboard": "false"}


class Run:
    """mpirun on a host. Its output goes to a file, as daemons that outlive it would keep a pipe open."""

    def __init__(self, words, environment):
        self._begin = time.monotonic()
        self._output = tempfile.TemporaryFile("w+", errors="replace")
        # mpirun that does not end when told to is killed.
        self._process = subprocess.Popen(["timeout", "-k", "5", "50", NETLAB, *map(str, words)], stdout=self._output,
                                         stderr=subprocess.STDOUT, env={**os.environ, **MPI_ENVIRONMENT, **environment})

    def finish(self):
        status = self._process.wait(60)
        with self._output:
            self._output.seek(0)
            return Result(status, self._output.read(), time.monotonic() - self._begin)


class Lab:
    """Hosts, named after this process: several tests may run at once."""

    def __init__(self, test, hosts, *options):
        self.name = f"test{os.getpid()}"
        test.addCleanup(self.down, test)
        result = self._netlab("up", hosts, *options)
        if result.returncode == NO_PERMISSION:
            test.skipTest(result.stderr.strip())
        test.assertEqual(result.returncode, 0, result.stderr)

    def _netlab(self, *words):
        return subprocess.run([NETLAB, "--lab", self.name, *map(str, words)], capture_output=True, text=True, timeout=60)

    def do(self, *words):
        result = self._netlab(*words)
        if result.returncode != 0:
            raise AssertionError(result.stderr)

    def start(self, per_host, arguments, environment=None):
        return Run(["--lab", self.name, "run", "--ranks-per-host", per_host, "--", BIN / "train", *arguments],
                   environment or {})

    def processes(self):
        listed = subprocess.run(["ip", "netns", "list"], capture_output=True, text=True, check=True).stdout.split()
        names = [name for name in listed if name.startswith(self.name + "-")]
        return [pid for name in names
                for pid in subprocess.run(["ip", "netns", "pids", name], capture_output=True, text=True).stdout.split()]

    def down(self, test):
        self._netlab("down")
        left = subprocess.run(["ip", "netns", "list"], capture_output=True, text=True).stdout
        test.assertNotIn(self.name, left)
        test.assertFalse(pathlib.Path("/run/netlab", self.name).exists())


class Hosts(SystemTest):
    def train_across(self, lab, per_host, name, settings=None, environment=None, status=0):
        result = lab.start(per_host, train_arguments(self.folder / name, settings), environment).finish()
        self.assertEqual(result.status, status, str(result))
        self.wait_for(lambda: not lab.processes(), "everything ended on all hosts", 10)
        return result

    def train_until(self, fault, lab):
        """Two ranks on each of four hosts; `fault` happens to the second host, whose ranks are 2 and 3."""
        for host in range(4):  # a connection with bytes that nobody confirms ends after 13 s, not 15 min
            lab.do("exec", host, "sysctl", "-qw", "net.ipv4.tcp_retries2=5")
        settings = {**ENDLESS, "comm.timeout_seconds": TIMEOUT}
        run = lab.start(2, train_arguments(self.folder / "run", settings))
        metrics = self.folder / "run" / "metrics.jsonl"
        self.wait_for(lambda: metrics.exists() and metrics.stat().st_size > 5000, "some steps", 30)
        fault()
        result = run.finish()
        self.assertLess(result.seconds, 40, str(result))
        self.wait_for(lambda: not lab.processes(), "everything ended on all hosts", 25)
        return result

    def assert_missing_ranks_are_named(self, result):
        self.assertEqual(result.status, 69, str(result))
        self.assertRegex(result.output, rf"rank [014567]: error: .* at step \d+, waiting for ranks? [^:]*[23][^:]*: not "
                                        rf"finished within {TIMEOUT} s", str(result))

    def test_the_same_bits_as_one_rank_on_one_host(self):
        self.train(0, "alone")
        expected = without_times(read_metrics(self.folder / "alone"))
        lab = Lab(self, 4, "--rate", "1gbit")
        for name in ("once", "again"):
            self.train_across(lab, 2, name)
            self.assertEqual(self.weights(name), self.weights("alone"), name)
            self.assertEqual(without_times(read_metrics(self.folder / name)), expected, name)

    def test_a_link_that_goes_down(self):
        lab = Lab(self, 4)
        self.assert_missing_ranks_are_named(self.train_until(lambda: lab.do("cut", 1), lab))

    def test_a_link_that_comes_back_in_time(self):
        lab = Lab(self, 2)
        settings = {**ENDLESS, "max_steps": 200}
        run = lab.start(1, train_arguments(self.folder / "run", settings))
        metrics = self.folder / "run" / "metrics.jsonl"
        self.wait_for(lambda: metrics.exists() and metrics.stat().st_size > 5000, "some steps", 30)
        lab.do("cut", 1)
        time.sleep(1)
        self.assertLess(len(read_metrics(self.folder / "run")), 200, "the run was over before the fault")
        lab.do("restore", 1)
        result = run.finish()
        self.assertEqual(result.status, 0, str(result))
        self.train(0, "alone", settings)
        self.assertEqual(self.weights("run"), self.weights("alone"))

    def test_a_host_that_loses_its_power(self):
        lab = Lab(self, 4)
        self.assert_missing_ranks_are_named(self.train_until(lambda: lab.do("crash", 1), lab))

    def test_a_host_that_ends_everything(self):
        """Its daemon's connection closes, so that Open MPI ends the others."""
        lab = Lab(self, 4)

        def end_everything():
            listed = subprocess.run(["ip", "netns", "pids", f"{lab.name}-1"], capture_output=True, text=True, check=True)
            subprocess.run(["kill", "-KILL", *listed.stdout.split()], check=True)

        result = self.train_until(end_everything, lab)
        self.assertNotEqual(result.status, 0, str(result))
        self.assertIn(f"{lab.name}-1", result.output)

    def test_an_interface_that_leads_nowhere(self):
        lab = Lab(self, 2, "--second-interface")
        result = self.train_across(lab, 1, "both", {"comm.start_timeout_seconds": 5},
                                   {"OMPI_MCA_btl_tcp_if_include": "eth1,eth0"}, status=69)
        self.assertRegex(result.output, r"not all ranks have come within 5 s of start-up: .*btl_tcp_if_include")
        self.assertIn("198.18.1.", result.output)  # Open MPI's word for it
        self.train_across(lab, 1, "named", environment={"OMPI_MCA_btl_tcp_if_include": "198.18.0.0/24"})
        self.train(0, "alone")
        self.assertEqual(self.weights("named"), self.weights("alone"))


class Script(unittest.TestCase):
    def status(self, *words, **options):
        return subprocess.run([NETLAB, *words], capture_output=True, text=True, timeout=60, **options).returncode

    def test_nothing_is_left_when_it_fails_half_way(self):
        if os.geteuid() != 0:
            self.skipTest("needs root")
        name = f"test{os.getpid()}"
        self.assertNotIn(self.status("--lab", name, "up", "2", "--rate", "nonsense"), (0, NO_PERMISSION))
        left = subprocess.run(["ip", "netns", "list"], capture_output=True, text=True, check=True).stdout
        self.assertFalse(re.search(name, left), left)
        self.assertFalse(pathlib.Path("/run/netlab", name).exists())

    def test_each_refusal_has_its_status(self):
        self.assertEqual(self.status("nonsense"), 64)
        self.assertEqual(self.status("up", "0"), 64)
        self.assertEqual(self.status("--help"), 0)
        if os.geteuid() == 0:
            self.assertEqual(self.status("--lab", "nosuch", "list"), 69)
            self.assertEqual(self.status("--lab", "nosuch", "down"), 0)
            self.assertEqual(self.status("up", "2", user=65534), NO_PERMISSION)


if __name__ == "__main__":
    unittest.main()
