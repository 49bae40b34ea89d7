"""Files of the safetensors format: u64 N, N bytes of JSON, the tensors' bytes."""

import json
import struct

import numpy

DTYPES = {"F32": numpy.float32, "F64": numpy.float64, "I64": numpy.int64, "I32": numpy.int32, "U8": numpy.uint8}


def load(path):
    with open(path, "rb") as file:
        (length,) = struct.unpack("<Q", file.read(8))
        header = json.loads(file.read(length))
        data = file.read()
    header.pop("__metadata__", None)
    return {name: numpy.frombuffer(data[slice(*entry["data_offsets"])], DTYPES[entry["dtype"]]).reshape(entry["shape"])
            for name, entry in header.items()}


def save(path, arrays):
    names = {dtype: name for name, dtype in DTYPES.items()}
    header, offset = {}, 0
    for name, array in arrays.items():
        header[name] = {"dtype": names[array.dtype.type], "shape": array.shape,
                        "data_offsets": (offset, offset + array.nbytes)}
        offset += array.nbytes
    text = json.dumps(header).encode()
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        file.writelines(numpy.ascontiguousarray(array).tobytes() for array in arrays.values())
