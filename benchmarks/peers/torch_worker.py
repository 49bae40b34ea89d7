"""One rank of PyTorch's DistributedDataParallel: trains on one batch that is in memory, prints a line of JSON.

Usage: torch_worker.py REQUEST, a JSON object as torch_peer.py writes it; or no argument: what this PyTorch is.
"""

import contextlib
import json
import pathlib
import re
import sys
import time

import torch
import torch.distributed
from torch.distributed.algorithms.ddp_comm_hooks import default_hooks
from torch.nn.parallel import DistributedDataParallel

from torch_models import MODELS


def blas_library():
    """Which library multiplies matrices: of the build, or else the one that is mapped into this process."""
    if "BLAS_INFO=mkl" in torch.__config__.show():
        return "MKL"
    torch.ones(64, 64) @ torch.ones(64, 64)
    mapped = pathlib.Path("/proc/self/maps").read_text(encoding="utf-8").lower()
    for name, part in (("OpenBLAS", "openblas"), ("MKL", "mkl_rt"), ("BLIS", "blis"), ("ATLAS", "atlas")):
        if part in mapped:
            return name
    return "reference BLAS" if "libblas" in mapped else "its own"


def describe():
    onednn = re.search(r"MKL-DNN v([0-9.]+)", torch.__config__.show())
    return {
        "version": torch.__version__.split("+")[0],
        "onednn": onednn[1] if onednn else "none",
        "blas": blas_library(),
    }


def make_optimizer(name, parameters, rate):
    """The kind that updates all of a parameter in one pass, where this PyTorch has it for CPUs."""
    kinds = {"sgd": (torch.optim.SGD, {"momentum": 0.9}), "adamw": (torch.optim.AdamW, {})}
    make, options = kinds[name]
    options |= {"lr": rate, "weight_decay": 1e-4}
    try:
        return make(parameters, fused=True, **options)
    except (TypeError, RuntimeError):
        return make(parameters, **options)


def make_batch(request):
    shape, count = request["input"], request["batch"]
    if len(shape) == 1:
        tokens = torch.randint(request["classes"], (count, shape[0] + 1))
        return tokens[:, :-1].contiguous(), tokens[:, 1:].contiguous()
    return torch.randn(count, *shape), torch.randint(request["classes"], (count,))


def make_step(request):
    """(one training step, number of parameters)."""
    model = MODELS[request["model"]](request["input"], request["classes"])
    inputs, targets = make_batch(request)
    if request["layout"] == "channels_last":
        model = model.to(memory_format=torch.channels_last)
        inputs = inputs.to(memory_format=torch.channels_last)
    # A graph that is compiled, in one piece for each bucket, must not be declared static.
    parallel = DistributedDataParallel(model, gradient_as_bucket_view=True, static_graph=not request["compiled"])
    if request["fp16_hook"]:
        parallel.register_comm_hook(None, default_hooks.fp16_compress_hook)
    run = torch.compile(parallel) if request["compiled"] else parallel
    optimizer = make_optimizer(request["optimizer"], parallel.parameters(), request["rate"])

    def precision():
        if request["precision"] == "bf16":
            return torch.autocast("cpu", torch.bfloat16)
        return contextlib.nullcontext()

    def step():
        optimizer.zero_grad(set_to_none=True)
        with precision():
            logits = run(inputs)
            loss = torch.nn.functional.cross_entropy(logits.reshape(-1, logits.shape[-1]), targets.reshape(-1))
        loss.backward()
        optimizer.step()

    return step, sum(parameter.numel() for parameter in model.parameters())


def peak_memory():
    """Bytes that were resident at once, at most."""
    status = pathlib.Path("/proc/self/status").read_text(encoding="ascii")
    return 1024 * int(re.search(r"VmHWM:\s+(\d+) kB", status)[1])


def train(request):
    """All ranks are together after every step: none can add its gradients alone."""
    torch.manual_seed(request["rank"])
    torch.set_num_threads(request["threads"])
    torch.distributed.init_process_group("gloo", init_method="file://" + request["rendezvous"], rank=request["rank"],
                                         world_size=request["ranks"])
    step, parameters = make_step(request)
    for _ in range(request["warmup"]):
        step()
    seconds = []
    for _ in range(request["steps"]):
        start = time.perf_counter()
        step()
        seconds.append(time.perf_counter() - start)
    print(json.dumps({"step_seconds": seconds, "memory_bytes": peak_memory(), "parameters": parameters}), flush=True)
    torch.distributed.barrier()
    torch.distributed.destroy_process_group()


if __name__ == "__main__":
    if len(sys.argv) > 1:
        train(json.loads(sys.argv[1]))
    else:
        print(json.dumps(describe()))
