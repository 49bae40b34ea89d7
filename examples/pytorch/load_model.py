#!/usr/bin/env python3
"""Opens the weights of a run in PyTorch: load_model.py RUN_DIRECTORY MODEL

For example `load_model.py runs/shoes resnet18`. MODEL is a name of torchvision.models; the tensors have its names, so they
load with strict checking. The file is read by hand here; with the safetensors package it is
`safetensors.torch.load_file(path)`.
"""

import json
import pathlib
import struct
import sys

import torch
import torchvision

DTYPES = {"F32": torch.float32, "I64": torch.int64}


def load_file(path):
    """(tensors by name, metadata) of a safetensors file: 8 bytes with the header's length, JSON, the tensors."""
    content = bytearray(pathlib.Path(path).read_bytes())
    (length,) = struct.unpack("<Q", content[:8])
    header = json.loads(content[8 : 8 + length])
    metadata = header.pop("__metadata__", {})
    data = memoryview(content)[8 + length :]
    tensors = {}
    for name, entry in header.items():
        begin, end = entry["data_offsets"]
        flat = torch.frombuffer(data[begin:end], dtype=DTYPES[entry["dtype"]])
        tensors[name] = flat.reshape(entry["shape"])
    return tensors, metadata


run, name = sys.argv[1:3]
tensors, metadata = load_file(f"{run}/model.safetensors")
model = getattr(torchvision.models, name)(num_classes=int(metadata["classes"]))
model.load_state_dict(tensors, strict=True)
model.eval()
shape = [int(extent) for extent in metadata["input"].split()]
with torch.no_grad():
    logits = model(torch.zeros(1, *shape))
print(f"{name}: {len(tensors)} tensors, {sum(p.numel() for p in model.parameters())} parameters")
print(f"classes: {metadata.get('class_names', '').split()}")
print(f"logits of a black picture: {[round(value, 4) for value in logits[0].tolist()]}")
