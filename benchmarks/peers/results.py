"""Arithmetic on what was measured, and the file of results: a line of JSON for each case and precision."""

import json
import statistics


def spread(values):
    """(median, least, most)."""
    return statistics.median(values), min(values), max(values)


def speed_ratios(pairs):
    """How many times faster lockstep was, pair by pair."""
    return [torch / lockstep for lockstep, torch in pairs]


def bound(profile):
    """The least time of a step in seconds, and what it takes: its arithmetic or its memory traffic."""
    return max((profile["flops_per_step"] / profile["peak_flops"], "arithmetic"),
               (profile["bytes_per_step"] / profile["memory_bandwidth"], "memory"))


def append(path, record):
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "a", encoding="utf-8") as lines:
        lines.write(json.dumps(record) + "\n")


def latest(path):
    """The last record of each case and precision, in the order of the first ones."""
    records = {}
    with open(path, encoding="utf-8") as lines:
        for record in map(json.loads, lines):
            records[record["case"], record["precision"]] = record
    return list(records.values())
