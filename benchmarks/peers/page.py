"""The measured part of docs/performance.md, made of the records of results.py."""

import re
import statistics

import results

BEGIN = "<!-- measured: begin -->\n"
END = "<!-- measured: end -->\n"

HEAD = """\
| case | precision | lockstep | PyTorch | ratio | peak memory | bound | PyTorch's best configuration |
|---|---|---|---|---|---|---|---|
"""


def number(value):
    """Three digits, or all of those before the point."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def memory_text(record):
    """lockstep's, that of PyTorch's best configuration, and that of its leanest."""
    least = min(run["memory_bytes"] for run in record["scan"].values())
    sides = [record["lockstep"]["memory_bytes"], record["torch"]["memory_bytes"], least]
    ours, theirs, leanest = [f"{side / 2**20:,.0f}" for side in sides]
    return f"{ours} / {theirs} MiB = {sides[0] / sides[1]:.2f}; leanest {leanest}"


def bound_text(record):
    """As items per second, by what, and how much of it lockstep reaches; empty where no profile was taken."""
    if not record["bound"]:
        return ""
    seconds, limit = results.bound(record["bound"])
    reached = seconds / statistics.median(record["lockstep"]["step_seconds"])
    return f"{number(record['items_per_step'] / seconds)} {record['items']}/s by {limit}; {100 * reached:.0f} % reached"


def row(record):
    cells = [record["text"], record["precision"], "", "", "", "", "", record.get("configuration", {}).get("text", "")]
    if "torch" in record:
        cells[3] = f"{number(record['torch']['items_per_second'])} {record['items']}/s"
    if "ratios" in record:
        middle, least, most = results.spread(record["ratios"])
        cells[2] = f"{number(record['lockstep']['items_per_second'])} {record['items']}/s"
        cells[4] = f"**{middle:.2f}** ({least:.2f} to {most:.2f})"
        cells[5] = memory_text(record)
        cells[6] = bound_text(record)
    else:
        cells[2] = "not available"
    return "| " + " | ".join(cells) + " |\n"


def distinct(values):
    """Each once, in the order of their first appearance."""
    return list(dict.fromkeys(values))


def machine_text(machine):
    return (f"{machine['cores']} cores of {machine['cpu']} ({', '.join(machine['flags'])}), "
            f"{machine['memory_bytes'] / 2**30:.0f} GiB")


def conditions(records):
    """What was measured, where and when: each fact once, unless records differ in it."""
    programs = [f"{record['program']['version'].removeprefix('lockstep ')}, commit {record['program']['commit']}, "
                f"{record['program']['onednn']}" for record in records]
    torches = [f"{torch['version']} with oneDNN {torch['onednn']} and {torch['blas']}"
               for record in records for torch in record["torches"]]
    sizes = [f"{record['ranks']}, threads of each: {record['threads']}" for record in records]
    facts = [("machine", distinct(machine_text(record["machine"]) for record in records)),
             ("ranks", distinct(sizes)),
             ("lockstep", distinct(programs)),
             ("PyTorch", distinct(torches)),
             ("date", distinct(record["date"] for record in records))]
    return "".join(f"- {name}: {'; '.join(values)}\n" for name, values in facts)


def remarks(records):
    """What a reader must know about single rows, and about a PyTorch that is slower than it has to be."""
    for record in records:
        if "unavailable" in record:
            yield f"{record['case']}, {record['precision']}, lockstep: {record['unavailable']}"
        for configuration, words in record["failed"].items():
            yield f"{record['case']}, {record['precision']}, {configuration} was left out: {words}"
    slow = distinct(torch["version"] for record in records for torch in record["torches"]
                    if torch["blas"] == "reference BLAS")
    for version in slow:
        yield (f"PyTorch {version} multiplied fp32 matrices with the reference BLAS, which is not made for speed: "
               "where it is the best configuration of `mlp` or `gpt2`, the ratio says nothing. Debian's "
               "libopenblas0-pthread replaces it.")


def measured_part(records):
    commands = "".join(f"    {command}\n" for command in distinct(record["command"] for record in records))
    notes = "".join(f"- {remark}\n" for remark in remarks(records))
    parts = [conditions(records), HEAD + "".join(map(row, records)), notes, "Made by\n", commands]
    return "\n" + "\n".join(filter(None, parts)) + "\n"


def replace_measured(page, part):
    """The page with another measured part; the text around it stays."""
    if BEGIN not in page or END not in page:
        raise SystemExit(f"the page has no lines {BEGIN.strip()} and {END.strip()}")
    return re.sub(f"(?<={re.escape(BEGIN)}).*(?={re.escape(END)})", lambda _: part, page, flags=re.DOTALL)


def write(path, records):
    path.write_text(replace_measured(path.read_text(encoding="utf-8"), measured_part(records)), encoding="utf-8")
