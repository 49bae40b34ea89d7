"""A rank of an all-reduce by PyTorch's gloo: gloo_worker.py RENDEZVOUS RANK RANKS BYTES SECONDS.

Rank 0 prints the median in microseconds of the slowest rank's times.
"""

import statistics
import sys
import time

import torch
import torch.distributed

rendezvous, rank, ranks, nbytes, seconds = sys.argv[1], *map(int, sys.argv[2:5]), float(sys.argv[5])
torch.set_num_threads(1)
torch.distributed.init_process_group("gloo", init_method="file://" + rendezvous, rank=rank, world_size=ranks)
data = torch.zeros(nbytes // 4)


def sum_once():
    torch.distributed.barrier()
    begin = time.perf_counter()
    torch.distributed.all_reduce(data)
    return time.perf_counter() - begin


for _ in range(3):
    once = torch.tensor([sum_once()])
torch.distributed.all_reduce(once, torch.distributed.ReduceOp.MAX)  # so that all ranks take as many turns
times = torch.tensor([sum_once() for _ in range(max(10, min(1000, int(seconds / once.item()))))])
torch.distributed.all_reduce(times, torch.distributed.ReduceOp.MAX)
if rank == 0:
    print(1e6 * statistics.median(times.tolist()))
