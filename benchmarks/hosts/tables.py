"""The measured part of docs/hosts.md, made of the lines that measure.py leaves."""

import json
import statistics

import allreduce
import page
import results

OVERLAPPED = {"lockstep fp32": "lockstep fp32, not overlapped", "lockstep fp16": "lockstep fp16, not overlapped"}
ALONE = "lockstep alone"
PEER = "PyTorch"


def latest(path):
    """The last record of each part and number of hosts, in the order of the first ones."""
    records = {}
    with open(path, encoding="utf-8") as lines:
        for record in map(json.loads, lines):
            records[record["part"], record["hosts"]] = record
    return list(records.values())


def milliseconds(seconds):
    return page.number(1000 * seconds)


def hidden_share(alone, overlapped, not_overlapped):
    """Of the time that communication adds to a step, what overlap takes away again; None where it adds nothing."""
    added = not_overlapped - alone
    return (not_overlapped - overlapped) / added if added > 0 else None


def ratios(record, name, other):
    """How many times as fast as `other`, round by round."""
    return [theirs / ours for ours, theirs in zip(record["seconds"][name], record["seconds"].get(other, []))]


def ratio_text(record, name, other):
    found = ratios(record, name, other)
    return "{:.2f} ({:.2f} to {:.2f})".format(*results.spread(found)) if found else ""


def hidden_text(record, name):
    needed = [ALONE, name, OVERLAPPED.get(name)]
    if not all(one in record["seconds"] for one in needed):
        return ""
    share = hidden_share(*[statistics.median(record["seconds"][one]) for one in needed])
    return "" if share is None else f"{100 * share:.0f} %"


def training_table(record):
    lines = [f"{record['text']} for each rank, {record['hosts']} hosts:\n",
             "| | ms per step | least to most | times as fast as PyTorch | hidden |", "|---|---|---|---|---|"]
    for name, seconds in record["seconds"].items():
        middle, least, most = map(milliseconds, results.spread(seconds))
        ratio = "" if name == ALONE else ratio_text(record, name, PEER)
        lines.append(f"| {name} | {middle} | {least} to {most} | {ratio} | {hidden_text(record, name)} |")
    lines += [f"\n{name} was left out: {reason}" for name, reason in record["failed"].items()]
    return "\n".join(lines) + "\n"


def allreduce_table(record):
    if "unavailable" in record:
        return f"All-reduce on {record['hosts']} hosts was not measured: {record['unavailable']}\n"
    lines = [f"All-reduce of f32, {record['hosts']} hosts:\n",
             "| bytes | algorithm | codec | ms | wire at line rate, ms | at 95 % of it, ms | time over the last |",
             "|---|---|---|---|---|---|---|"]
    for row in record["rows"]:
        nbytes = row["bytes"] // (1 if row["codec"] == "none" else 2)
        line, tcp = (allreduce.wire_seconds(record["hosts"], nbytes, record["rate"], share)
                     for share in (1, allreduce.TCP_SHARE))
        seconds = row["p50_us"] / 1e6
        lines.append(f"| {row['bytes']:,} | {row['algorithm']} | {row['codec']} | {milliseconds(seconds)} "
                     f"| {milliseconds(line)} | {milliseconds(tcp)} | {seconds / tcp:.2f} |")
    return "\n".join(lines) + "\n"


def of_record(record):
    return allreduce_table(record) if record["part"] == "allreduce" else training_table(record)


def conditions(records):
    """What was measured, where and when: each fact once, unless records differ in it."""
    torches = [f"{torch['version']} with oneDNN {torch['onednn']} and {torch['blas']}"
               for torch in (record["torch"] for record in records) if torch]
    facts = [("machine", [page.machine_text(record["machine"]) for record in records]),
             ("links", [record["rate"] for record in records]),
             ("program", [record["program"] for record in records]),
             ("PyTorch", torches or ["none"]),
             ("date", [record["date"] for record in records])]
    return "".join(f"- {name}: {'; '.join(page.distinct(values))}\n" for name, values in facts)


def measured_part(records):
    commands = "".join(f"    {command}\n" for command in page.distinct(record["command"] for record in records))
    return "\n" + "\n".join([conditions(records), *map(of_record, records), "Made by\n", commands]) + "\n"


def write(path, records):
    path.write_text(page.replace_measured(path.read_text(encoding="utf-8"), measured_part(records)), encoding="utf-8")
