#!/usr/bin/env python3
"""Each convolution pass within training steps beside the same pass alone with cold caches.

Trains a recipe for some steps with oneDNN's verbose mode on, takes the median time of every distinct convolution
pass, then lets bin/convolution time the same pass in the same form, alone. Prints both and their ratio; the last line
weighs the passes by their time.

    benchmarks/convolution/in_step.py --build build/release --model resnet50 --image 224 --batch 16
"""

import argparse
import collections
import os
import re
import statistics
import subprocess
import sys
import tempfile

CONFIG = """
model {{ name: "{model}" }}
data {{
  name: "synthetic"
  classes: {classes}
  synthetic {{ train_samples: {samples} test_samples: 1 channels: {channels} height: {image} width: {image} }}
}}
global_batch: {batch}
micro_batch: {batch}
max_steps: {steps}
threads: 1
precision: {precision}
optimizer {{ name: "sgd" lr: 0.01 momentum: 0.9 }}
"""
SHAPE = re.compile(r"mb(\d+)_ic(\d+)oc(\d+)_ih(\d+)oh\d+kh(\d+)sh(\d+)")


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build/release", help="where bin/train and bin/convolution are")
    parser.add_argument("--model", default="resnet20")
    parser.add_argument("--image", type=int, default=32, help="height and width")
    parser.add_argument("--channels", type=int, default=3)
    parser.add_argument("--classes", type=int, default=10)
    parser.add_argument("--batch", type=int, default=128)
    parser.add_argument("--steps", type=int, default=8, help="of which the first is left out")
    parser.add_argument("--precision", default="FP32", choices=["FP32", "BF16"])
    return parser.parse_args()


def train(arguments):
    """oneDNN's lines about convolutions, in the order of execution."""
    with tempfile.TemporaryDirectory() as folder:
        recipe = os.path.join(folder, "recipe.textproto")
        with open(recipe, "w", encoding="utf-8") as file:
            file.write(CONFIG.format(samples=arguments.steps * arguments.batch, **vars(arguments)))
        result = subprocess.run(
            [os.path.join(arguments.build, "bin", "train"), recipe, "--output", os.path.join(folder, "run")],
            env={**os.environ, "ONEDNN_VERBOSE": "1"}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            timeout=1800, check=False)
    if result.returncode != 0:
        sys.exit(result.stdout[-2000:])
    return [line for line in result.stdout.splitlines() if line.startswith("onednn_verbose,exec,cpu,convolution,")]


def passes(lines, batch):
    """Milliseconds of every execution but the first, by 'batch,in,out,image,kernel,stride,pass,form'."""
    times = collections.defaultdict(list)
    for line in lines:
        fields = line.split(",")
        numbers = SHAPE.search(fields[9]).groups()
        if int(numbers[0]) == batch:  # else evaluation
            form = fields[8].split(":convolution_")[1]
            times[",".join([*numbers, fields[5], form])].append(float(fields[10]))
    return {key: values[1:] for key, values in times.items() if len(values) > 1}


def time_alone(build, keys, precision):
    command = [os.path.join(build, "bin", "convolution"), "--seconds", "0.3"]
    command += ["--bf16"] if precision == "BF16" else []
    for key in keys:
        command += ["--pass", key]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    output = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, timeout=1800, check=True).stdout
    return {key: float(seconds) * 1e3 for key, seconds in (line.split() for line in output.splitlines())}


def main():
    arguments = parse_arguments()
    in_step = passes(train(arguments), arguments.batch)
    alone = time_alone(arguments.build, in_step, arguments.precision)
    print(f"{'batch,in,out,image,kernel,stride,pass,form':52} {'a step':>7} {'in step':>9} {'alone':>9} {'ratio':>6}")
    total_in_step = total_alone = 0
    for key, values in sorted(in_step.items(), key=lambda item: -sum(item[1])):
        median = statistics.median(values)
        calls = (len(values) + 1) / arguments.steps
        total_in_step += calls * median
        total_alone += calls * alone[key]
        print(f"{key:52} {calls:7.1f} {median:6.2f} ms {alone[key]:6.2f} ms {alone[key] / median:6.2f}")
    print(f"{'all, weighed by time':60} {total_in_step:6.1f} ms {total_alone:6.1f} ms {total_alone / total_in_step:6.2f}")


if __name__ == "__main__":
    main()
