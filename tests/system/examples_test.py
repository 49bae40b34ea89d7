"""Each example, built as its reader would: against an installed package, by find_package(lockstep)."""

import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

import harness

BUILD = pathlib.Path(os.environ["LOCKSTEP_BUILD"])
EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "examples"


def run(*command):
    done = subprocess.run(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=600)
    if done.returncode != 0:
        raise AssertionError(f"{command} ended with {done.returncode}:\n{done.stdout}")
    return done.stdout


class Examples(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp())
        cls.addClassCleanup(shutil.rmtree, cls.folder, ignore_errors=True)
        cls.prefix = cls.folder / "prefix"
        run("cmake", "--install", str(BUILD), "--prefix", str(cls.prefix))

    def build(self, name):
        """The program of an example, in a copy that cannot reach the source tree."""
        source = self.folder / name
        shutil.copytree(EXAMPLES / name, source)
        run("cmake", "-G", "Ninja", "-S", str(source), "-B", str(source / "build"), f"-DCMAKE_PREFIX_PATH={self.prefix}",
            "-DCMAKE_BUILD_TYPE=Release")
        run("cmake", "--build", str(source / "build"))
        return source / "build" / name

    def train(self, program, ranks, *words):
        environment = {**os.environ, **harness.MPI_ENVIRONMENT}
        done = subprocess.run(["mpirun", "-np", str(ranks), str(program), *map(str, words)], env=environment,
                              text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=300)
        self.assertEqual(done.returncode, 0, done.stdout)
        return done.stdout

    def same_bits(self, program, recipe, *sets):
        weights = []
        for ranks in (1, 2):
            output = self.folder / f"{program.name}-{ranks}"
            log = self.train(program, ranks, recipe, "--output", output, *sets)
            weights.append((output / "model.safetensors").read_bytes())
        self.assertEqual(*weights)
        return log

    def test_custom_model(self):
        self.assertLess(len((EXAMPLES / "custom_model/custom_model.cpp").read_text().splitlines()), 60)
        program = self.build("custom_model")
        log = self.same_bits(program, EXAMPLES / "custom_model/tiny_net.textproto", "--set", "epochs=1",
                             "--set", "data.train_limit=6000", "--set", "data.test_limit=1000")
        self.assertGreater(float(re.search(r"accuracy ([0-9.]+) %", log).group(1)), 40, log)

    def test_custom_data(self):
        program = self.build("custom_data")
        log = self.same_bits(program, EXAMPLES / "custom_data/waves.textproto")
        figures = [float(figure) for figure in re.findall(r"close_enough ([0-9.]+)", log)]
        self.assertEqual(len(figures), 10, log)
        self.assertGreater(figures[-1], 0.6, log)

    def test_linear_regression(self):
        program = self.build("linear_regression")
        self.assertIn("y = 3.0000 a + -2.0000 b + 1.0000", run(str(program)))

    def test_installed_programs_find_their_recipes(self):
        listed = run(str(self.prefix / "bin" / "train"), "--list")
        self.assertIn("fashion_mnist", listed)
        self.assertIn("usage", run(str(self.prefix / "bin" / "lockstep"), "--help").lower())


if __name__ == "__main__":
    unittest.main()
