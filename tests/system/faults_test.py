"""No fault of one rank hangs the others, and the output says what happened where."""

import os
import pathlib
import signal
import unittest

from harness import SystemTest, finish, ranks_of, run, start, train_arguments

DEADLINE = 25  # seconds; comm.timeout_seconds is 8, and mpirun takes up to 2 to end everybody


class Faults(SystemTest):
    def fault(self, kind, ranks=3, rank=1, step=3, settings=None):
        settings = {"fault.kind": kind, "fault.rank": rank, "fault.step": step, **(settings or {})}
        process = start("train", ranks, train_arguments(self.folder / kind, settings))
        result = finish(process, 60)
        self.assertNotEqual(result.status, 0, str(result))
        self.assertLess(result.seconds, DEADLINE, str(result))
        self.assert_all_gone(process.pid)
        return result

    def assert_all_gone(self, mpirun_pid):
        self.wait_for(lambda: not ranks_of(mpirun_pid) and not lockstep_processes(self.folder), "all ranks gone", 10)

    def test_a_rank_that_throws(self):
        result = self.fault("THROW")
        self.assertIn("rank 1", result.output)
        self.assertIn("step 3", result.output)

    def test_rank_zero_that_throws(self):
        result = self.fault("THROW", rank=0)
        self.assertIn("rank 0", result.output)

    def test_a_rank_that_exits(self):
        result = self.fault("EXIT")
        self.assertIn("rank 1", result.output)
        self.assertRegex(result.output, r"step 3")

    def test_a_rank_that_is_killed(self):
        result = self.fault("KILL")
        self.assertIn("signal 9", result.output)
        # The survivors say where they waited for it.
        self.assertRegex(result.output, r"rank [02].*step 3.*rank 1|step 3.*rank 1")

    def test_a_rank_that_never_arrives(self):
        result = self.fault("HANG")
        self.assertRegex(result.output, r"rank [02]: .*step 3.*(ranks?|from) 1")

    def test_a_rank_that_is_stopped(self):
        result = self.fault("STOP")
        self.assertRegex(result.output, r"rank [02]: .*step 3.*(ranks?|from) 1")

    def test_a_rank_that_calls_something_else(self):
        result = self.fault("MISMATCH", settings={"comm.debug_checks": "true"})
        self.assertIn("rank 1", result.output)

    def test_a_fault_during_the_last_of_eight_ranks(self):
        self.fault("THROW", ranks=8, rank=7, step=1)

    def test_a_killed_run_resumes(self):
        self.train(0, "unbroken")
        process = start("train", 2, train_arguments(self.folder / "killed", {"fault.kind": "KILL", "fault.rank": 1, "fault.step": 6}))
        self.assertNotEqual(finish(process, 60).status, 0)
        self.train(3, "killed", {}, "--resume", "latest")
        self.assertEqual(self.weights("killed"), self.weights("unbroken"))


class StartUp(SystemTest):
    def test_a_rank_that_never_comes(self):
        script = self.folder / "ranks.sh"
        words = train_arguments(self.folder / "run", {"comm.start_timeout_seconds": 3})
        train = pathlib.Path(os.environ["LOCKSTEP_BIN"]) / "train"
        script.write_text('#!/bin/sh\n[ "$OMPI_COMM_WORLD_RANK" = 1 ] && exec sleep 60\n'
                          f"exec {train} {' '.join(str(word) for word in words)}\n")
        script.chmod(0o755)
        result = finish(start_script(script, 3), 30)
        self.assertEqual(result.status, 69, str(result))
        self.assertRegex(result.output, r"MPI_Init of rank [02] of 3\] not finished after 3 s")


class Differences(SystemTest):
    def test_ranks_with_different_settings_are_told_the_field(self):
        words = train_arguments(self.folder / "a")
        other = train_arguments(self.folder / "a", {"optimizer.lr": 0.06})
        script = self.folder / "ranks.sh"
        train = pathlib.Path(os.environ["LOCKSTEP_BIN"]) / "train"
        quote = lambda items: " ".join(f"'{item}'" for item in map(str, items))
        script.write_text(f'#!/bin/sh\nif [ "$OMPI_COMM_WORLD_RANK" = 1 ]; then exec {train} {quote(other)}; fi\n'
                          f"exec {train} {quote(words)}\n")
        script.chmod(0o755)
        process = start_script(script, 3)
        result = finish(process, 60)
        self.assertEqual(result.status, 64, str(result))
        self.assertIn("rank 1 differs from rank 0 in 'optimizer.lr': 0.06", result.output)


def start_script(script, ranks):
    import subprocess
    from harness import MPI_ENVIRONMENT
    return subprocess.Popen(["mpirun", "-np", str(ranks), str(script)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                            text=True, start_new_session=True, env={**os.environ, **MPI_ENVIRONMENT})


def lockstep_processes(folder):
    """Processes whose command line names this test's folder."""
    found = []
    for entry in pathlib.Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                words = (entry / "cmdline").read_bytes()
            except OSError:
                continue
            if str(folder).encode() in words and b"train" in words.split(b"\0")[0]:
                found.append(int(entry.name))
    return found


if __name__ == "__main__":
    unittest.main()
